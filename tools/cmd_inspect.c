/* gpulaunch inspect: kernels, parameters, layouts, resources.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "document.h"
#include "compiling.h"
#include "files.h"
#include "session.h"
#include "show.h"

static void print_layout(text *line, const layout *l)
{
    for (size_t i = 0; i < l->leaves.count; i++) {
        const leaf *f = &l->leaves.items[i];
        text_format(line, "%s%s %s @%zu", i ? ", " : "", f->path, f->type_name, f->offset);
    }
}

static void print_parameter(const gpul_kernel_info *k, uint32_t index, size_t name_width,
                            size_t type_width)
{
    const gpul_param *param = &k->params[index];
    text line = { 0 };
    text_format(&line, "  %u  %s", index, param_name(k, index));
    pad_to(&line, 5 + name_width + 2);
    text_add(&line, param_type_text(param));
    size_t column = 5 + name_width + 2 + type_width + 3;
    if (param->is_pointer && k->types != GPUL_TYPES_NONE) {
        pad_to(&line, column);
        bool is_struct =
            param->pointee && param->pointee->type == GPUL_STRUCT && param->pointee->lanes <= 1;
        bool known = k->types == GPUL_TYPES_COMPILER;
        text_add(&line, param->is_const ? "in"
                        : !known        ? "a pointer"
                        : is_struct     ? "in-out"
                                        : "out or in-out");
        if (is_struct) {
            layout *l = layout_of(param->pointee);
            text_format(&line, "     %zu bytes an element: ", l->size);
            print_layout(&line, l);
        }
    } else if (!param->is_pointer) {
        layout *l = layout_of(&param->value);
        if (l->is_struct) {
            pad_to(&line, column);
            text_format(&line, "%zu bytes: ", l->size);
            print_layout(&line, l);
        } else if (!param->value.type || k->types != GPUL_TYPES_COMPILER) {
            pad_to(&line, column);
            text_format(&line, "%u byte%s at %u", param->value.size,
                        param->value.size == 1 ? "" : "s", param->value.offset);
        }
    }
    puts(text_of(&line));
}

static void print_resources(const gpul_kernel_info *k, const gpul_image_info *image)
{
    text line = { 0 };
    text_format(&line, "  %s: ", *image->arch ? image->arch : "?");
    if (k->registers >= 0)
        text_format(&line, "%d registers, %d bytes shared, ", k->registers,
                    k->shared_bytes > 0 ? k->shared_bytes : 0);
    if (k->local_bytes > 0) text_format(&line, "%d bytes local (spills or arrays)", k->local_bytes);
    else if (k->local_bytes == 0) text_add(&line, "no spills");
    if (k->types != GPUL_TYPES_NONE)
        text_format(&line, "%s%s", k->local_bytes >= 0 ? "; " : "",
                    k->uses_z   ? "3-D (x, y and z)"
                    : k->uses_y ? "2-D (x and y)"
                                : "1-D (x only)");
    if (k->uses_dynamic_shared)
        text_format(&line, "; dynamic shared memory%s%s (--shared)",
                    k->dynamic_shared_name ? " " : "",
                    k->dynamic_shared_name ? k->dynamic_shared_name : "");
    if (k->bound_threads[0])
        text_format(&line, "; launch bounds %d",
                    k->bound_threads[0] * (k->bound_threads[1] ? k->bound_threads[1] : 1) *
                        (k->bound_threads[2] ? k->bound_threads[2] : 1));
    if (k->cluster[0])
        text_format(&line, "; clusters of %dx%dx%d", k->cluster[0],
                    k->cluster[1] ? k->cluster[1] : 1, k->cluster[2] ? k->cluster[2] : 1);
    puts(text_of(&line));
}

/* With a device: how many blocks a multiprocessor of it can hold. */
static void print_occupancy(const session *s, gpul_module *module, const gpul_kernel_info *k)
{
    const gpul_kernel *kernel;
    int blocks;
    if (!module ||
        gpul_module_kernel(&kernel, module, k->symbol && *k->symbol ? k->symbol : k->name))
        return;
    unsigned threads = 256;
    const gpul_kernel_info *loaded = gpul_kernel_describe(kernel);
    if (loaded->max_threads > 0 && (unsigned)loaded->max_threads < threads)
        threads = (unsigned)loaded->max_threads;
    if (gpul_kernel_occupancy(&blocks, kernel, threads, 0)) return;
    unsigned most = s->info->max_threads_per_multiprocessor;
    printf("  on %s: %d blocks of %u threads a multiprocessor", device_shown(s->info), blocks,
           threads);
    if (most) printf(", %.0f %% of its threads", 100.0 * blocks * threads / most);
    putchar('\n');
}

static void print_kernel(const source_file *source, const gpul_image *image,
                         const gpul_kernel_info *k, const session *s, gpul_module *module)
{
    text line = { 0 };
    text_add(&line, k->signature && *k->signature ? k->signature : k->name);
    if (k->file && *k->file && k->line) {
        pad_to(&line, 46);
        text_format(&line, "%s:%u", k->file, k->line);
    }
    if (k->is_extern_c) text_add(&line, "     extern \"C\"");
    if (k->is_template) text_add(&line, "     a template");
    puts(text_of(&line));
    if (k->is_template) {
        printf("  try:  gpulaunch inspect %s -k '%s'\n", shell_quoted(source->path),
               instance_of(k));
        return;
    }
    size_t names = 0, types = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        if (strlen(param_name(k, i)) > names) names = strlen(param_name(k, i));
        if (strlen(param_type_text(&k->params[i])) > types)
            types = strlen(param_type_text(&k->params[i]));
    }
    for (uint32_t i = 0; i < k->param_count; i++) print_parameter(k, i, names, types);
    print_resources(k, gpul_image_describe(image));
    if (s->device) print_occupancy(s, module, k);
    bool several = gpul_image_kernel_count(image) > 1;
    const char *words = suggest_words(k, NULL);
    text try_line = { 0 };
    text_format(&try_line, "  try:  gpulaunch run %s", shell_quoted(source->path));
    if (several || strchr(k->name, '<')) text_format(&try_line, " -k %s", shell_quoted(k->name));
    if (*words) text_format(&try_line, " %s", words);
    if (k->uses_dynamic_shared) text_add(&try_line, " --shared 1K");
    if (!k->param_count) text_add(&try_line, " --grid 1 --block 32");
    puts(text_of(&try_line));
}

static void print_globals(const gpul_image *image)
{
    size_t count = gpul_image_global_count(image);
    for (size_t i = 0; i < count; i++) {
        const gpul_global_info *g = gpul_image_global(image, i);
        printf("%s ", g->is_constant ? "__constant__" : "__device__");
        if (g->element)
            printf("%s%s", g->element->type_name, g->element->type == GPUL_POINTER ? "" : " ");
        printf("%s", g->name);
        if (g->element && g->size > g->element->size)
            printf("[%llu]", (unsigned long long)(g->size / g->element->size));
        printf("   %llu byte%s\n", (unsigned long long)g->size, g->size == 1 ? "" : "s");
    }
}

/* Machine code by NVIDIA's own tools; it comes on our stdout. */
static bool print_sass(const gpul_image *image)
{
    const gpul_image_info *info = gpul_image_describe(image);
    if (!info->cubin) {
        message_hint(fail(CODE_IMAGE_FORM, "there is no machine code in this image"),
                     "-arch sm_90");
        return false;
    }
    char path[] = "/tmp/gpulaunch-XXXXXX";
    int fd = mkstemp(path);
    bool good = fd >= 0 && write(fd, info->cubin, info->cubin_size) == (ssize_t)info->cubin_size;
    if (fd >= 0) close(fd);
    fflush(stdout);
    int status = -1;
    pid_t child = good ? fork() : -1;
    if (child == 0) {
        execlp("nvdisasm", "nvdisasm", "-c", path, (char *)NULL);
        execlp("cuobjdump", "cuobjdump", "-sass", path, (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, &status, 0);
    if (fd >= 0) unlink(path);
    if (status == 0) return true;
    message *m = fail(CODE_CLI_FEATURE, "the machine code cannot be shown: %s",
                      WIFEXITED(status) && WEXITSTATUS(status) == 127
                          ? "neither nvdisasm nor cuobjdump is on PATH"
                          : "nvdisasm failed");
    message_hint(m, "they are part of the CUDA toolkit");
    return false;
}

static int inspect(const source_file *source, const element_list *elements, gpul_image *image,
                   const session *s)
{
    gpul_module *module = NULL;
    const option_use *only = option_find(elements, OPT_KERNEL);
    if (option_find(elements, OPT_PTX)) {
        const gpul_image_info *info = gpul_image_describe(image);
        if (!info->ptx) fail(CODE_IMAGE_FORM, "there is no PTX in this image");
        else fwrite(info->ptx, 1, info->ptx_size, stdout);
        return 0;
    }
    if (option_find(elements, OPT_SASS)) {
        print_sass(image);
        return 0;
    }
    size_t count = gpul_image_kernel_count(image), shown = 0;
    if (s->device && gpul_load(&module, s->device, image, NULL)) {
        library_message(NULL);
        return 0;
    }
    run_request none;
    request_init(&none);
    plan p = { .source = source, .image = image, .request = &none };
    if (only) {
        step_request wanted = { .kernel = only->text, .kernel_at = only->value };
        const gpul_kernel_info *k = choose_kernel(&p, &wanted);
        if (k && option_find(elements, OPT_DIRECTIVE))
            printf("// gpulaunch: args %s\n", suggest_words(k, NULL));
        else if (k) print_kernel(source, image, k, s, module);
        gpul_module_free(&module);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const gpul_kernel_info *k = gpul_image_kernel(image, i);
        if (option_find(elements, OPT_DIRECTIVE)) {
            if (!k->is_template)
                printf("// gpulaunch: args %s%s\n", count > 1 ? mem_format("-k %s ", k->name) : "",
                       suggest_words(k, NULL));
            continue;
        }
        if (shown++) putchar('\n');
        print_kernel(source, image, k, s, module);
    }
    gpul_module_free(&module);
    if (!count) no_kernel(source, image);
    else if (gpul_image_global_count(image) && !option_find(elements, OPT_DIRECTIVE)) {
        putchar('\n');
        print_globals(image);
    }
    return 0;
}

int cmd_inspect(element_list *elements)
{
    const word *file = take_word(elements);
    if (!file) {
        need_file("inspect");
        return 0;
    }
    source_file source;
    element_list all = { 0 };
    session s = { 0 };
    if (!no_more_words(elements) || !compile_request(&source, &all, elements, file)) return 0;
    const option_use *device = option_find(elements, OPT_DEVICE),
                     *only = option_find(elements, OPT_KERNEL);
    if (device && !session_open(&s, device, false)) return 0;
    compile_job job = { .source = &source, .options = &all, .session = device ? &s : NULL };
    /* for the CPU device there would be PTX only, and no registers to tell of */
    const char *named = getenv("GPULAUNCH_DEVICE");
    if (!device && named && starts_with(named, "cpu")) job.arch = "sm_90";
    if (only && expression_needed(only->text)) *list_add(&job.expressions) = only->text;
    gpul_image *image = compile_source(&job);
    if (image) {
        document_image(image);
        if (document_wanted()) document_kernels(image);
        else inspect(&source, elements, image, &s);
    }
    gpul_image_free(&image);
    session_close(&s);
    return 0;
}
