/* Words, directives, buffer descriptions, options and the look of messages.  SPDX-License-Identifier: MIT */
#include "runner.h"

#undef fail /* cmocka's; the command has its own */

#include <string.h>

#include "tools/options.h"
#include "tools/render.h"
#include "tools/request.h"
#include "tools/source.h"
#include "tools/spec.h"

static source_file source_of(const char *content)
{
    source_file s = { .path = "k.cu", .folder = "", .text = content, .size = strlen(content) };
    for (const char *line = content; *line;) {
        size_t length = strcspn(line, "\n");
        *list_add(&s.lines) = mem_copy(line, length);
        line += length + (line[length] != 0);
    }
    return s;
}

static void splitting(void **state)
{
    (void)state;
    word like = { .file = "f", .line_text = "a=1  'b c'\"d e\"f x=@'my file' # rest '", .line = 3 };
    word_list words = { 0 };
    size_t bad;
    assert_true(words_split(&words, &like, 0, &bad));
    assert_int_equal(words.count, 3);
    assert_string_equal(words.items[0]->text, "a=1");
    assert_string_equal(words.items[1]->text, "b cd ef");
    assert_string_equal(words.items[2]->text, "x=@my file");
    assert_int_equal(words.items[1]->offset[0], 6);
    assert_int_equal(words.items[1]->offset[6], 15);
    word open = { .file = "f", .line_text = "a 'b", .line = 1 };
    assert_false(words_split(&words, &open, 0, &bad));
    assert_int_equal(bad, 2);
    assert_int_equal(edit_distance("blocksums", "block_sums"), 1);
    static const char *const names[] = { "block_sums", "scale" };
    assert_string_equal(nearest_name("blocksums", names, 2), "block_sums");
    assert_null(nearest_name("xyz", names, 2));
    assert_string_equal(shell_quoted("scale<float>"), "'scale<float>'");
    assert_string_equal(shell_quoted("x=1M:rand"), "x=1M:rand");
    assert_string_equal(shell_quoted("it's"), "'it'\\''s'");
}

static void directive_lines(void **state)
{
    (void)state;
    source_file s = source_of("// gpulaunch: build -DX=1\n"
                              "///   gpulaunch: args n=x.len a=2.5   # a remark\n"
                              "/* // gpulaunch: args hidden=1\n"
                              "   // gpulaunch: args hidden=2 */\n"
                              "char *t = \"// gpulaunch: args no=1\";\n"
                              "  // gpulaunch: case small x=64:iota\n"
                              "// gpulaunch: + --expect y=@small.npy\n"
                              "// gpulaunch: then -k finish sums=%sums\n"
                              "// gpulaunch: require cc>=8.0 coop\n"
                              "// gpulaunch: case big x=1M\n"
                              "// gpulaunch: fails GL0505\n"
                              "// gpulaunch is a tool\n");
    directives d;
    messages_restart();
    assert_true(directives_read(&d, &s, true));
    assert_int_equal(messages_count(), 0);
    assert_int_equal(d.build.count, 1);
    assert_int_equal(d.args.count, 2);
    assert_int_equal(d.cases.count, 2);
    assert_string_equal(d.cases.items[0].name, "small");
    assert_int_equal(d.cases.items[0].steps.count, 2);
    assert_int_equal(d.cases.items[0].steps.items[0].count, 3);
    assert_int_equal(d.cases.items[0].require.count, 2);
    assert_int_equal(d.cases.items[1].fails_code, 505);
    static const struct {
        const char *line;
        int code;
    } wrong[] = {
        { "// gpulaunch: arg x=1\n", CODE_DIRECTIVE_KIND },
        { "// gpulaunch:\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpulaunch: args 'x\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpulaunch: + x=1\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpulaunch: case\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpulaunch: case x=1\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpulaunch: case a\n// gpulaunch: case a\n", CODE_DIRECTIVE_CASE },
        { "// gpulaunch: require gpu\n", CODE_DIRECTIVE_WORD },
        { "// gpulaunch: fails 505\n", CODE_DIRECTIVE_SYNTAX },
        { "// gpu-launch: args x=1\n", CODE_DIRECTIVE_LOOKALIKE },
        { "// Gpulaunch: args x=1\n", CODE_DIRECTIVE_LOOKALIKE },
        { "// gpulaunch run x=1\n", CODE_DIRECTIVE_LOOKALIKE },
        { "// gpulaunch args x=1\n", CODE_DIRECTIVE_LOOKALIKE },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        source_file one = source_of(wrong[i].line);
        messages_restart();
        assert_false(directives_read(&d, &one, true));
        assert_true(messages_count() >= 1);
        assert_int_equal(messages_at(0)->code, wrong[i].code);
    }
    messages_restart();
}

static word *plain_word(const char *content)
{
    word *w = mem_alloc(sizeof *w);
    unsigned *offset = mem_array(strlen(content) + 1, sizeof *offset);
    for (size_t i = 0; i <= strlen(content); i++) offset[i] = (unsigned)i;
    *w = (word){ .text = content,
                 .origin = WORD_FILE,
                 .file = "f",
                 .line_text = content,
                 .line = 1,
                 .offset = offset };
    return w;
}

static void descriptions(void **state)
{
    (void)state;
    spec_context context = { .name = "x", .type_text = "float *" };
    buffer_spec s;
    messages_restart();
    assert_true(spec_parse(&s, span_of(plain_word("1M")), &context));
    assert_true(s.shape_kind == SHAPE_GIVEN && s.source == SOURCE_NONE &&
                s.shape.dim[0] == 1048576);
    assert_true(spec_parse(&s, span_of(plain_word("640x480:iota")), &context));
    assert_true(s.shape.rank == 2 && s.source == SOURCE_IOTA);
    assert_true(spec_parse(&s, span_of(plain_word("1M:rand:-1.5..2,seed=7,inout")), &context));
    assert_true(s.source == SOURCE_RAND && s.seed == 7 && s.direction == DIR_INOUT);
    assert_true(spec_parse(&s, span_of(plain_word("in.shape")), &context));
    assert_true(s.shape_kind == SHAPE_OF);
    assert_string_equal(s.shape_of, "in");
    assert_true(spec_parse(&s, span_of(plain_word("x.len:zeros")), &context));
    assert_true(s.shape_kind == SHAPE_LENGTH_OF && s.source == SOURCE_ZEROS);
    assert_true(spec_parse(&s, span_of(plain_word("1,2,3")), &context));
    assert_true(s.source == SOURCE_VALUES && s.values.count == 3);
    assert_true(spec_parse(&s, span_of(plain_word("5,")), &context));
    assert_true(s.source == SOURCE_VALUES && s.values.count == 1);
    assert_true(spec_parse(&s, span_of(plain_word("inf,-nan,true,in")), &context) &&
                s.values.count == 3 && s.direction == DIR_IN);
    assert_true(spec_parse(&s, span_of(plain_word("1000:@dir/a.bin,skip=16,be")), &context));
    assert_true(s.source == SOURCE_FILE && s.skip == 16 && s.big_endian && s.shape.dim[0] == 1000);
    assert_string_equal(s.path, "dir/a.bin");
    assert_true(spec_parse(&s, span_of(plain_word("f32x4/16:zeros")), &context));
    assert_true(s.type == GPUL_F32 && s.lanes == 4);
    assert_true(spec_parse(&s, span_of(plain_word("u8/5,")), &context) && s.type == GPUL_U8 &&
                s.source == SOURCE_VALUES);
    assert_true(spec_parse(&s, span_of(plain_word("%sums")), &context) && s.source == SOURCE_STEP);
    assert_true(spec_parse(&s, span_of(plain_word("null")), &context) && s.source == SOURCE_NULL);
    assert_true(spec_parse(&s, span_of(plain_word("fill:1,2,3,out")), &context) &&
                s.values.count == 3 && s.direction == DIR_OUT);
    assert_int_equal(messages_count(), 0);
    static const char *const wrong[] = { "2.5",         "x.npy",     "",           "rnad",
                                         "1M:",         "1M:rand:5", "rand:a..b",  "fill",
                                         "fill:x",      "zeros:1",   "1M,what",    "1M,skip=x",
                                         "1x2x3x4",     "-1",        "0",          "0:zeros",
                                         "iota:",       "@",         "1,2,zeros3", "010",
                                         "16Gx16Gx16G", "randn:1",   "f33/1M" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        messages_restart();
        if (spec_parse(&s, span_of(plain_word(wrong[i])), &context))
            print_error("accepted: %s\n", wrong[i]);
        assert_int_equal(messages_count(), 1);
        assert_int_equal(messages_at(0)->code, CODE_ARGS_BUFFER);
    }
    messages_restart();
}

static void option_words(void **state)
{
    (void)state;
    const word *words[] = { plain_word("-DN=4"),      plain_word("-I"),         plain_word("dir"),
                            plain_word("--grid=2,3"), plain_word("x=1"),        plain_word("-arch"),
                            plain_word("sm_90"),      plain_word("-std=c++17"), plain_word("-O3"),
                            plain_word("--then"),     plain_word("-k"),         plain_word("scale"),
                            plain_word("--"),         plain_word("-x"),         plain_word("-vv") };
    element_list e = { 0 };
    messages_restart();
    assert_true(options_parse(&e, words, sizeof words / sizeof *words, CMD_RUN));
    assert_string_equal(option_find(&e, OPT_DEFINE)->text, "N=4");
    assert_string_equal(option_find(&e, OPT_INCLUDE_DIR)->text, "dir");
    assert_string_equal(option_find(&e, OPT_GRID)->text, "2,3");
    assert_string_equal(option_find(&e, OPT_ARCH)->text, "sm_90");
    assert_string_equal(option_find(&e, OPT_STD)->text, "c++17");
    assert_string_equal(option_find(&e, OPT_OPTIMISE)->text, "3");
    assert_string_equal(option_find(&e, OPT_KERNEL)->text, "scale");
    assert_true(e.items[e.count - 1].kind == ELEMENT_WORD); /* behind -- */
    const word *bad[] = { plain_word("--gird"), plain_word("2") };
    assert_false(options_parse(&e, bad, 2, CMD_RUN));
    assert_int_equal(messages_at(0)->code, CODE_CLI_OPTION);
    const word *lone[] = { plain_word("--grid") };
    assert_false(options_parse(&e, lone, 1, CMD_RUN));
    const word *valued[] = { plain_word("--quiet=1") };
    assert_false(options_parse(&e, valued, 1, CMD_RUN));
    messages_restart();
}

static void look(void **state)
{
    (void)state;
    char program[] = "gpulaunch", command[] = "run", file[] = "s.cu", value[] = "a=2,5",
         blank[] = "x y";
    char *argv[] = { program, command, file, value, blank };
    words_init(5, argv);
    messages_restart();
    message *m = fail(CODE_ARGS_TYPE, "'a' is float");
    message_at_span(m, span_from(words_command_line(3), 2));
    message_note_at(m, place_source("s.cu", 4, 5, 8, "\t\xc3\xa4 float"), "declared here");
    message_hint(m, "write a=2.5");
    assert_string_equal(message_rendered(m), "gpulaunch: error[GL0304]: args: 'a' is float\n"
                                             "     | gpulaunch run s.cu a=2,5 'x y'\n"
                                             "     |                      ^~~\n"
                                             "s.cu:4:5: note: declared here\n"
                                             "   4 |     \xc3\xa4 float\n"
                                             "     |        ^~~\n"
                                             "hint: write a=2.5\n");
    message *quoted =
        message_at_span(fail(CODE_CLI_FILE, "here"), (span){ words_command_line(4), 2, 3 });
    assert_string_equal(message_rendered(quoted), "gpulaunch: error[GL0104]: cli: here\n"
                                                  "     | gpulaunch run s.cu a=2,5 'x y'\n"
                                                  "     |                             ^\n");
    text out = { 0 };
    render_message(&out, m, ERRORS_GITHUB, false);
    assert_string_equal(
        text_of(&out),
        "::error title=GL0304::'a' is float%0Adeclared here (s.cu:4)%0Ahint: write a=2.5\n");
    out = (text){ 0 };
    render_message(&out, m, ERRORS_JSON, false);
    assert_string_equal(
        text_of(&out),
        "{\"severity\":\"error\",\"code\":\"GL0304\",\"layer\":\"args\",\"text\":\"'a' is float\","
        "\"notes\":[\"declared here\"],\"hints\":[\"write a=2.5\"],\"related\":[{\"file\":\"s.cu\",\"line\":4,\"column\":5,\"text\":\"declared here\"}]}\n");
    messages_restart();
    mem_release();
}

GPUL_TEST_MAIN("cli words", cmocka_unit_test(splitting), cmocka_unit_test(directive_lines),
               cmocka_unit_test(descriptions), cmocka_unit_test(option_words),
               cmocka_unit_test(look));
