/* gpulaunch devices and gpulaunch doctor.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "commands.h"
#include "document.h"
#include "session.h"
#include "show.h"

static void print_device(const gpul_device_info *d)
{
    bool cpu = d->backend == GPUL_BACKEND_CPU;
    const char *name = mem_format("%s:%d", cpu ? "cpu" : "cuda", d->ordinal);
    text line = { 0 };
    text_add(&line, name);
    pad_to(&line, 10);
    text_add(&line, d->name);
    pad_to(&line, 34);
    text_format(&line, "cc %d.%d", d->compute_major, d->compute_minor);
    pad_to(&line, 44);
    if (d->memory_free) text_format(&line, "%s free of ", bytes_text(d->memory_free));
    text_add(&line, bytes_text(d->memory_total));
    if (d->multiprocessors) text_format(&line, ", %d multiprocessors", d->multiprocessors);
    if (*d->uuid) text_format(&line, "  %s", d->uuid);
    if (*d->pci_bus_id) text_format(&line, "  %s", d->pci_bus_id);
    puts(text_of(&line));
}

/* Free memory is known once the device is open; a device that does not open is listed without it. */
static void with_memory(gpul_device_info *d, const char *name)
{
    gpul_device *device;
    uint64_t free_bytes, total;
    if (gpul_open(&device, gpul_device_opts(.device = name))) return;
    if (gpul_device_memory(device, &free_bytes, &total) == GPUL_OK) d->memory_free = free_bytes;
    gpul_device_free(&device);
}

int cmd_devices(element_list *elements)
{
    static const char *const kinds[] = { "cuda", "cpu" };
    gpul_device_info infos[64];
    size_t count = 0;
    if (!no_more_words(elements)) return 0;
    for (int kind = 0; kind < 2; kind++) {
        int found = 0;
        if (gpul_device_count(&found, kinds[kind])) {
            const gpul_error *e = gpul_last_error();
            if (kind == 0 && summary_stream)
                fprintf(stderr, "gpulaunch: note: no GPU: %s\n", e->message);
            continue;
        }
        for (int i = 0; i < found && count < 64; i++) {
            const char *name = mem_format("%s:%d", kinds[kind], i);
            if (gpul_device_query(&infos[count], name)) {
                message *m = library_message(NULL);
                m->severity = SEVERITY_WARNING;
                continue;
            }
            with_memory(&infos[count], name);
            count++;
        }
    }
    if (document_wanted()) document_devices(infos, count);
    else
        for (size_t i = 0; i < count; i++) print_device(&infos[i]);
    return 0;
}

int cmd_doctor(element_list *elements)
{
    static const char *const verdicts[] = { "ok", "warn", "FAIL" };
    gpul_doctor *doctor;
    if (!no_more_words(elements)) return 0;
    if (gpul_doctor_new(&doctor)) {
        library_message(NULL);
        return 0;
    }
    for (size_t i = 0; i < gpul_doctor_count(doctor) && !document_wanted(); i++) {
        const gpul_check *c = gpul_doctor_check(doctor, i);
        text line = { 0 };
        text_format(&line, "%-5s %-12s ", verdicts[c->verdict], c->subject);
        text_add(&line, c->text);
        if (c->fix && *c->fix) text_format(&line, " (%s)", c->fix);
        puts(text_of(&line));
    }
    if (document_wanted()) document_doctor(doctor);
    bool ready = gpul_doctor_ready(doctor);
    gpul_doctor_free(&doctor);
    return ready ? EXIT_OK : EXIT_DEVICE;
}
