/* The JSON document, by jansson.  SPDX-License-Identifier: MIT */
#include "check.h"
#include "document.h"

#include "files.h"
#include "render.h"
#include "request.h"

#if HAVE_JANSSON
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "show.h"
#include "values.h"

static json_t *root, *steps, *checks, *versions;
static const char *command_name;

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

json_t *json_words(const char *source)
{
    json_t *made = json_string(source);
    if (made) return made;
    text clean = { 0 }; /* not UTF-8: replaced, byte by byte */
    size_t length = strlen(source);
    for (size_t i = 0; i < length;) {
        size_t step_bytes = utf8_step(source + i, length - i);
        if (step_bytes == 1 && (unsigned char)source[i] >= 128) text_add(&clean, "\xef\xbf\xbd");
        else text_addn(&clean, source + i, step_bytes);
        i += step_bytes;
    }
    return json_string(text_of(&clean));
}

bool document_wanted(void)
{
    return common.json;
}

void document_start(const char *command, int argc, char **argv)
{
    if (!common.json) return;
    command_name = command;
    root = json_object();
    set(root, "schema", json_words(mem_format("gpulaunch/%s/1", command)));
    set(root, "ok", json_false());
    set(root, "exit", json_integer(0));
    versions = json_object();
    set(versions, "gpulaunch", json_words(gpul_version()));
    set(root, "versions", versions);
    json_t *words = json_array();
    json_array_append_new(words, json_words("gpulaunch"));
    for (int i = 1; i < argc; i++) json_array_append_new(words, json_words(argv[i]));
    set(root, "argv", words);
    char cwd[4096];
    if (getcwd(cwd, sizeof cwd)) set(root, "cwd", json_words(cwd));
    time_t now = time(NULL);
    struct tm utc;
    char started[32];
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    set(root, "started", json_words(started));
}

json_t *document_root(void)
{
    return root;
}

static json_t *device_object(const gpul_device_info *d)
{
    json_t *object = json_object();
    set(object, "backend", json_words(d->backend == GPUL_BACKEND_CPU ? "cpu" : "cuda"));
    set(object, "index", json_integer(d->ordinal));
    set(object, "name", json_words(d->name));
    set(object, "cc", json_words(mem_format("%d.%d", d->compute_major, d->compute_minor)));
    if (*d->uuid) set(object, "uuid", json_words(d->uuid));
    if (*d->pci_bus_id) set(object, "pci", json_words(d->pci_bus_id));
    set(object, "multiprocessors", json_integer(d->multiprocessors));
    set(object, "memory_total", json_integer((json_int_t)d->memory_total));
    if (d->memory_free) set(object, "memory_free", json_integer((json_int_t)d->memory_free));
    return object;
}

void document_device(const gpul_device_info *d)
{
    if (!root) return;
    if (*d->driver_release) set(versions, "driver", json_words(d->driver_release));
    if (d->driver_version)
        set(versions, "cuda",
            json_words(
                mem_format("%d.%d", d->driver_version / 1000, d->driver_version % 1000 / 10)));
    set(root, "device", device_object(d));
}

void document_devices(const gpul_device_info *infos, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, device_object(&infos[i]));
    set(root, "devices", list);
}

void document_doctor(const gpul_doctor *doctor)
{
    static const char *const verdicts[] = { "ok", "warn", "fail" };
    json_t *list = json_array();
    for (size_t i = 0; i < gpul_doctor_count(doctor); i++) {
        const gpul_check *c = gpul_doctor_check(doctor, i);
        json_t *object = json_object();
        set(object, "verdict", json_words(verdicts[c->verdict]));
        set(object, "subject", json_words(c->subject));
        set(object, "text", json_words(c->text));
        set(object, "fix", c->fix && *c->fix ? json_words(c->fix) : json_null());
        json_array_append_new(list, object);
    }
    set(root, "checks", list);
}

void document_image(const gpul_image *image)
{
    if (!root) return;
    const gpul_image_info *info = gpul_image_describe(image);
    if (info->nvrtc_major)
        set(versions, "nvrtc",
            json_words(mem_format("%d.%d", info->nvrtc_major, info->nvrtc_minor)));
    json_t *object = json_object();
    set(object, "arch", json_words(info->arch));
    set(object, "compile_ns", json_integer((json_int_t)info->compile_ns));
    set(object, "from_cache", json_boolean(info->from_cache));
    set(root, "image", object);
}

/* ---- Values ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Integers beyond 2^53 and what is no finite number are strings. */
static json_t *scalar(gpul_type type, const void *bytes)
{
    if (type_is_float(type)) {
        double value = value_to_double(type, bytes);
        if (isnan(value)) return json_string("NaN");
        if (isinf(value)) return json_string(value < 0 ? "-Infinity" : "Infinity");
        if (type !=
            GPUL_F64) { /* the shortest text that is this float, not its long double expansion */
            text shortest = { 0 };
            value_print(&shortest, type, bytes, 0);
            double again;
            if (value_parse(&again, GPUL_F64, shortest.data, shortest.length) == VALUE_FINE)
                value = again;
        }
        return json_real(value);
    }
    if (type == GPUL_BOOL) return json_boolean(value_to_int(type, bytes) != 0);
    int64_t value = value_to_int(type, bytes);
    bool large = type == GPUL_U64 ? (uint64_t)value > (uint64_t)1 << 53
                                  : value > (int64_t)1 << 53 || value < -((int64_t)1 << 53);
    text digits = { 0 };
    if (!large) return json_integer(value);
    value_print(&digits, type, bytes, 0);
    return json_string(digits.data);
}

static json_t *leaf_value(const leaf *f, const unsigned char *bytes)
{
    size_t size = type_size(f->type);
    if (!size) return json_null();
    if (f->count == 1) return scalar(f->type, bytes + f->offset);
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->count; i++)
        json_array_append_new(list, scalar(f->type, bytes + f->offset + i * size));
    return list;
}

static json_t *value_object(const argument *arg)
{
    if (!arg->layout->is_struct) return leaf_value(&arg->layout->leaves.items[0], arg->bytes);
    json_t *object = json_object();
    for (size_t i = 0; i < arg->layout->leaves.count; i++)
        set(object, arg->layout->leaves.items[i].path,
            leaf_value(&arg->layout->leaves.items[i], arg->bytes));
    return object;
}

static json_t *stats_object(const buffer *b)
{
    buffer_stats stats;
    if (!stats_of(b, &stats) || !stats.known) return json_null();
    bool none = b->count == stats.nans + stats.infinities + stats.unset;
    json_t *object = json_object();
    set(object, "min", none ? json_null() : number(stats.low));
    set(object, "max", none ? json_null() : number(stats.high));
    set(object, "mean", none ? json_null() : number(stats.mean));
    set(object, "nan", json_integer((json_int_t)stats.nans));
    set(object, "inf", json_integer((json_int_t)stats.infinities));
    set(object, "unset", json_integer((json_int_t)stats.unset));
    return object;
}

static json_t *dims(const uint64_t *n, unsigned rank)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < rank; i++) json_array_append_new(list, json_integer((json_int_t)n[i]));
    return list;
}

static json_t *argument_object(const plan *p, const argument *arg, json_t *inferred)
{
    static const char *const directions[] = { "", "in", "out", "inout", "scratch" };
    json_t *object = json_object();
    set(object, "name", json_words(arg->name));
    set(object, "type", json_words(param_type_text(arg->param)));
    if (arg->kind == ARG_NULL) {
        set(object, "value", json_null());
    } else if (arg->kind == ARG_VALUE) {
        set(object, "value", value_object(arg));
        if (arg->source) set(object, "source", json_words(arg->source));
        if (arg->source) json_array_append_new(inferred, json_words(arg->name));
    } else {
        const buffer *b = arg->buffer;
        set(object, "dir", json_words(directions[b->direction]));
        set(object, "shape", dims(b->shape.dim, b->shape.rank));
        set(object, "source", json_words(spec_source_text(&b->spec, p->seed)));
        if (b->shape_from)
            json_array_append_new(inferred, json_words(mem_format("%s.len", arg->name)));
        if (b->direction != DIR_IN && b->direction != DIR_SCRATCH)
            set(object, "stats", stats_object(b));
    }
    return object;
}

void document_step(const plan *p, const step *s, double time_ns)
{
    if (!root) return;
    if (!steps) set(root, "steps", steps = json_array());
    json_t *object = json_object(), *inferred = json_array(), *args = json_array();
    set(object, "kernel", json_words(s->kernel->name));
    set(object, "grid", dims(s->grid, 3));
    set(object, "block", dims(s->block, 3));
    set(object, "shared", json_integer((json_int_t)s->request->shared));
    set(object, "repeat", json_integer((json_int_t)s->request->repeat));
    if (s->grid_from) json_array_append_new(inferred, json_words("grid"));
    if (s->block_inferred) json_array_append_new(inferred, json_words("block"));
    for (uint32_t i = 0; i < s->kernel->param_count; i++)
        json_array_append_new(args, argument_object(p, &s->arguments[i], inferred));
    set(object, "inferred", inferred);
    set(object, "time_ns", json_integer((json_int_t)llround(time_ns)));
    set(object, "args", args);
    json_array_append_new(steps, object);
}

/* ---- Checks ---- */

void document_checks(const step *s)
{
    if (!root) return;
    if (!checks) set(root, "checks", checks = json_array());
    for (size_t i = 0; i < s->expectations.count; i++) {
        const expectation *e = s->expectations.items[i];
        const comparison *c = e->result;
        if (!c) continue;
        json_t *object = json_object(), *first = json_array();
        set(object, "name", json_words(e->buffer->name));
        set(object, "ok", json_boolean(c->passed));
        set(object, "against", json_words(e->against));
        set(object, "bad", json_integer((json_int_t)c->bad));
        set(object, "total", json_integer((json_int_t)c->total));
        set(object, "unset", json_integer((json_int_t)c->unset));
        set(object, "unchanged", json_integer((json_int_t)c->unchanged));
        set(object, "max_abs", number(c->largest_error));
        if (!c->passed && c->needed_atol > 0) {
            json_t *would = json_object();
            set(would, "atol", number(c->needed_atol * 1.0005));
            set(object, "would_pass", would);
        }
        for (size_t k = 0; k < c->first.count; k++) {
            const mismatch *m = &c->first.items[k];
            json_t *one = json_object();
            set(one, "index", json_integer((json_int_t)m->index));
            if (*m->leaf->path) set(one, "member", json_words(m->leaf->path));
            if (m->leaf->count > 1) set(one, "lane", json_integer(m->lane));
            set(one, "got", m->unset ? json_null() : scalar(m->type, m->got));
            set(one, "expected", scalar(m->type, m->expected));
            json_array_append_new(first, one);
        }
        set(object, "first", first);
        json_array_append_new(checks, object);
    }
}

/* ---- Kernels ---- */

static json_t *leaves_array(const layout *l)
{
    json_t *list = json_array();
    for (size_t i = 0; i < l->leaves.count; i++) {
        const leaf *f = &l->leaves.items[i];
        json_t *object = json_object();
        set(object, "name", json_words(f->path));
        set(object, "type", json_words(f->type_name));
        set(object, "offset", json_integer((json_int_t)f->offset));
        set(object, "count", json_integer(f->count));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *parameter_object(const gpul_kernel_info *k, uint32_t index)
{
    const gpul_param *param = &k->params[index];
    json_t *object = json_object();
    set(object, "name", json_words(param_name(k, index)));
    set(object, "type", json_words(param_type_text(param)));
    set(object, "size", json_integer(param->value.size));
    set(object, "offset", json_integer(param->value.offset));
    set(object, "pointer", json_boolean(param->is_pointer));
    if (param->is_pointer) set(object, "const", json_boolean(param->is_const));
    if (param->pointee) {
        json_t *element_object = json_object();
        set(element_object, "type",
            json_words(param->pointee->type_name ? param->pointee->type_name : ""));
        set(element_object, "size", json_integer(param->pointee->size));
        if (param->pointee->member_count)
            set(element_object, "members", leaves_array(layout_of(param->pointee)));
        set(object, "element", element_object);
    } else if (param->value.member_count) {
        set(object, "members", leaves_array(layout_of(&param->value)));
    }
    if (param->line) set(object, "line", json_integer(param->line));
    return object;
}

void document_kernels(const gpul_image *image)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gpul_image_kernel_count(image); i++) {
        const gpul_kernel_info *k = gpul_image_kernel(image, i);
        json_t *object = json_object(), *params = json_array();
        set(object, "name", json_words(k->name));
        set(object, "symbol", json_words(k->symbol ? k->symbol : ""));
        set(object, "signature", json_words(k->signature ? k->signature : ""));
        if (k->file && *k->file) set(object, "file", json_words(k->file));
        if (k->line) set(object, "line", json_integer(k->line));
        set(object, "template", json_boolean(k->is_template));
        for (uint32_t n = 0; n < k->param_count; n++)
            json_array_append_new(params, parameter_object(k, n));
        set(object, "params", params);
        set(object, "uses_y", json_boolean(k->uses_y));
        set(object, "uses_z", json_boolean(k->uses_z));
        set(object, "dynamic_shared", json_boolean(k->uses_dynamic_shared));
        set(object, "registers", k->registers < 0 ? json_null() : json_integer(k->registers));
        set(object, "shared", k->shared_bytes < 0 ? json_null() : json_integer(k->shared_bytes));
        set(object, "local", k->local_bytes < 0 ? json_null() : json_integer(k->local_bytes));
        json_array_append_new(list, object);
    }
    set(root, "kernels", list);
}

void document_cases(const check_list *list)
{
    static const char *const names[] = { "pass", "fail", "skip" };
    if (!root) return;
    json_t *all = json_array();
    for (size_t i = 0; i < list->cases.count; i++) {
        const check_result *r = &list->results[i];
        json_t *object = json_object();
        set(object, "file", json_words(list->cases.items[i].source->path));
        set(object, "case", json_words(list->cases.items[i].name));
        set(object, "result", json_words(names[r->status]));
        set(object, "code", r->code ? json_words(mem_format("GL%04d", r->code)) : json_null());
        set(object, "time_ns", json_integer((json_int_t)(r->milliseconds * 1e6)));
        if (*r->summary) set(object, "summary", json_words(r->summary));
        if (*r->details) set(object, "details", json_words(r->details));
        json_array_append_new(all, object);
    }
    set(root, "cases", all);
}

/* ---- Messages and the end ---- */

static json_t *message_object(const message *m)
{
    static const char *const severities[] = { "", "error", "warning", "note" };
    json_t *object = json_object(), *notes = json_array(), *hints = json_array();
    set(object, "severity", json_words(severities[m->severity]));
    if (m->code) set(object, "code", json_words(mem_format("GL%04d", m->code)));
    if (m->code) set(object, "layer", json_words(m->layer));
    set(object, "text", json_words(m->text));
    const char *file;
    unsigned line, column, end;
    if (place_in_file(&m->at, &file, &line, &column, &end)) {
        set(object, "file", json_words(file));
        set(object, "line", json_integer(line));
        set(object, "column", json_integer(column));
        set(object, "end_column", json_integer(end));
        set(object, "column_bytes", json_integer(place_byte_column(&m->at)));
    } else if (m->at.kind == PLACE_WORD) {
        set(object, "word", json_integer((json_int_t)m->at.at.word->index));
        set(object, "column_bytes", json_integer((json_int_t)m->at.at.start + 1));
    }
    json_t *related = json_array();
    for (size_t i = 0; i < m->items.count; i++) {
        const message_item *item = &m->items.items[i];
        json_array_append_new(item->kind == ITEM_HINT ? hints : notes, json_words(item->text));
        if (!place_in_file(&item->at, &file, &line, &column, &end)) continue;
        json_t *other = json_object();
        set(other, "file", json_words(file));
        set(other, "line", json_integer(line));
        set(other, "column", json_integer(column));
        set(other, "text", json_words(item->text));
        json_array_append_new(related, other);
    }
    if (json_array_size(related)) set(object, "related", related);
    else json_decref(related);
    set(object, "notes", notes);
    set(object, "hints", hints);
    return object;
}

void document_finish(int status)
{
    if (!root) return;
    set(root, "ok", json_boolean(status == 0));
    set(root, "exit", json_integer(status));
    json_t *list = json_array();
    for (size_t i = 0; i < messages_count(); i++)
        json_array_append_new(list, message_object(messages_at(i)));
    set(root, "messages", list);
    char *made = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    output out;
    const char *why = "out of memory", *path = common.json_file ? common.json_file : "-";
    bool good = made && output_open(&out, path, &why);
    if (good) {
        fprintf(out.stream, "%s\n", made);
        good = output_close(&out, &why);
    }
    if (!good) fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why);
    free(made);
    json_decref(root);
    root = NULL;
}

#else

bool document_wanted(void)
{
    return false;
}

void document_start(const char *command, int argc, char **argv)
{
    (void)command, (void)argc, (void)argv;
    if (!common.json) return;
    message *m =
        fail(CODE_CLI_FEATURE, "--json needs jansson, and this gpulaunch was built without it");
    message_hint(m, "build with -Djansson=enabled");
}

void document_finish(int status)
{
    (void)status;
}
void document_device(const gpul_device_info *d)
{
    (void)d;
}
void document_devices(const gpul_device_info *infos, size_t count)
{
    (void)infos, (void)count;
}
void document_doctor(const gpul_doctor *doctor)
{
    (void)doctor;
}
void document_image(const gpul_image *image)
{
    (void)image;
}
void document_kernels(const gpul_image *image)
{
    (void)image;
}
void document_step(const plan *p, const step *s, double time_ns)
{
    (void)p, (void)s, (void)time_ns;
}
void document_checks(const step *s)
{
    (void)s;
}
void document_cases(const check_list *list)
{
    (void)list;
}
#endif
