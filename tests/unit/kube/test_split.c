#include "kube/split.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const char *const left_out[] = { "metadata.managedFields", "status.images",
                                        "spec.containers.env",    "spec.containers.ports.name",
                                        "spec.volumes",           NULL };
static const struct split_view view = { .paths = left_out };

/* What came out of one run: the items' texts, a line each. */
struct run {
    struct buf items;
    size_t count;
    int rc;
    bool complete;
    char *envelope;
    struct err err;
};

static int take_item(void *arg, const char *text, size_t len, struct err *e)
{
    struct run *r = arg;
    (void) e;
    r->count++;
    buf_printf(&r->items, "%.*s\n", (int) len, text);
    return 0;
}

/* Feeds the text in pieces that end at `cuts` and at its end. */
static struct run run_cut(enum split_mode mode, const char *text, const size_t *cuts, size_t ncuts)
{
    struct run r = { .items = BUF_INIT(64 << 20) };
    CLEANUP(split_clear) struct split s;
    split_init(&s, mode, &view, take_item, &r);
    size_t from = 0;
    for (size_t i = 0; i <= ncuts && r.rc == 0; i++) {
        size_t to = i < ncuts ? cuts[i] : strlen(text);
        /* A copy of its own per piece, so that a sanitizer sees a byte too far. */
        CLEANUP_FREE char *piece = xcalloc(1, to - from);
        memcpy(piece, text + from, to - from);
        r.rc = split_feed(&s, piece, to - from, &r.err);
        from = to;
    }
    r.complete = split_complete(&s);
    r.envelope = xstrdup(buf_text(split_envelope(&s)));
    return r;
}

static struct run run_whole(enum split_mode mode, const char *text)
{
    return run_cut(mode, text, NULL, 0);
}

static void run_clear(struct run *r)
{
    buf_clear(&r->items);
    mem_cleanup_free(&r->envelope);
    err_clear(&r->err);
}

#define CLEANUP_RUN CLEANUP(run_clear)

static void assert_same_run(const struct run *got, const struct run *want)
{
    assert_int_equal(got->rc, want->rc);
    assert_int_equal(got->complete, want->complete);
    assert_int_equal(got->err.kind, want->err.kind);
    assert_string_equal(buf_text(&got->items), buf_text(&want->items));
    assert_string_equal(got->envelope, want->envelope);
}

static const char node_list[] =
    "{'kind':'NodeList','apiVersion':'v1','metadata':{'resourceVersion':'4711','continue':'"
    "eyJ2IjoibWV0YSJ9',"
    "'remainingItemCount':2},'items':["
    "{'metadata':{'name':'gpu-1','uid':'0d6b','resourceVersion':'17','labels':{'a.b/"
    "c':'','quote':'say \\'hi\\' \\\\'},"
    "'annotations':{'json':'{\\'managedFields\\':[1],\\'items\\':[]}'},"
    "'managedFields':[{'manager':'kubelet','fieldsV1':{'f:metadata':{'f:labels':{'.':{},'f:a{b}':{}"
    "}},"
    "'f:status':{'f:images':{}}}},{'manager':'x'}]},"
    "'spec':{'taints':[{'key':'nvidia.com/"
    "gpu','effect':'NoSchedule'}],'unschedulable':true,'podCIDRs':[]},"
    "'status':{'capacity':{'cpu':'8','nvidia.com/"
    "gpu':'8'},'conditions':[{'type':'Ready','status':'True'}],"
    "'images':[{'names':['nvcr.io/"
    "a@sha256:1','ä\\u00e4\\ud83d\\ude00']},{'sizeBytes':1e3}],'nodeInfo':{'osImage':'Ubuntu "
    "24.04'}}},"
    "{'metadata':{'managedFields':[],'name':'gpu-2'},'spec':{},'status':{'images':null}},"
    "{'metadata':{'name':'plain','managedFields':null,'creationTimestamp':null},"
    "'status':{'daemonEndpoints':{'kubeletEndpoint':{'Port':10250}}}}]}\n";

static const char node_items[] =
    "{'metadata':{'name':'gpu-1','uid':'0d6b','resourceVersion':'17','labels':{'a.b/"
    "c':'','quote':'say \\'hi\\' \\\\'},"
    "'annotations':{'json':'{\\'managedFields\\':[1],\\'items\\':[]}'}},"
    "'spec':{'taints':[{'key':'nvidia.com/"
    "gpu','effect':'NoSchedule'}],'unschedulable':true,'podCIDRs':[]},"
    "'status':{'capacity':{'cpu':'8','nvidia.com/"
    "gpu':'8'},'conditions':[{'type':'Ready','status':'True'}],"
    "'nodeInfo':{'osImage':'Ubuntu 24.04'}}}\n"
    "{'metadata':{'name':'gpu-2'},'spec':{},'status':{}}\n"
    "{'metadata':{'name':'plain','creationTimestamp':null},'status':{'daemonEndpoints':{'"
    "kubeletEndpoint':{'Port':10250}}}}\n";

static const char node_envelope[] = "{'kind':'NodeList','apiVersion':'v1','metadata':{'"
                                    "resourceVersion':'4711','continue':'eyJ2IjoibWV0YSJ9',"
                                    "'remainingItemCount':2},'items':[]}";

static const char node_watch[] =
    "{'type':'ADDED','object':{'kind':'Node','metadata':{'name':'gpu-1','managedFields':[{'a':'}'}]"
    ",'resourceVersion':'18'},"
    "'status':{'images':[{'names':['x']}]}}}\n"
    "{'type':'MODIFIED','object':{'kind':'Node','metadata':{'name':'gpu-1','resourceVersion':'19',"
    "'annotations':{'t':'\\\\\\'{['}}}}\r\n"
    "{'type':'BOOKMARK','object':{'kind':'Node','metadata':{'resourceVersion':'25','"
    "creationTimestamp':null},'spec':{},"
    "'status':{}}}\n"
    "{'type':'DELETED','object':{'metadata':{'managedFields':[],'name':'gpu-2'}}}"
    "{'type':'ERROR','object':{'kind':'Status','code':410,'reason':'Expired','metadata':{}}}\n";

static const char node_frames[] =
    "{'type':'ADDED','object':{'kind':'Node','metadata':{'name':'gpu-1','resourceVersion':'18'},'"
    "status':{}}}\n"
    "{'type':'MODIFIED','object':{'kind':'Node','metadata':{'name':'gpu-1','resourceVersion':'19',"
    "'annotations':{'t':'\\\\\\'{['}}}}\n"
    "{'type':'BOOKMARK','object':{'kind':'Node','metadata':{'resourceVersion':'25','"
    "creationTimestamp':null},'spec':{},"
    "'status':{}}}\n"
    "{'type':'DELETED','object':{'metadata':{'name':'gpu-2'}}}\n"
    "{'type':'ERROR','object':{'kind':'Status','code':410,'reason':'Expired','metadata':{}}}\n";

static const struct split_row {
    const char *name;
    enum split_mode mode;
    const char *text, *items, *envelope;
} splits[] = {
    { "a list of nodes gives its items and its envelope", SPLIT_LIST, node_list, node_items,
      node_envelope },
    { "a watch gives its frames", SPLIT_FRAMES, node_watch, node_frames, "" },
    { "an empty list", SPLIT_LIST, "{'metadata':{'resourceVersion':'1'},'items':[]}", "",
      "{'metadata':{'resourceVersion':'1'},'items':[]}" },
    { "a list whose items are null", SPLIT_LIST, "{'items':null,'a':1}", "",
      "{'items':null,'a':1}" },
    { "a list without items", SPLIT_LIST, "{'kind':'Status'}", "", "{'kind':'Status'}" },
    { "items that are no array", SPLIT_LIST, "{'items':{'items':[{'a':1}]}}", "",
      "{'items':{'items':[{'a':1}]}}" },
    { "metadata after the items", SPLIT_LIST,
      "{'items':[{'a':1}],'metadata':{'resourceVersion':'1'}}", "{'a':1}\n",
      "{'items':[],'metadata':{'resourceVersion':'1'}}" },
    { "an item's own items stay in it", SPLIT_LIST,
      "{'items':[{'data':{'items':[{'key':'a'},{'key':'b'}]},'items':[{}]}]}",
      "{'data':{'items':[{'key':'a'},{'key':'b'}]},'items':[{}]}\n", "{'items':[]}" },
    { "items in the list's metadata are no items", SPLIT_LIST,
      "{'metadata':{'items':[{'a':1}]},'items':[{'b':1}]}", "{'b':1}\n",
      "{'metadata':{'items':[{'a':1}]},'items':[]}" },
    { "an array within the items is no item", SPLIT_LIST, "{'items':[{'a':[[{}],{}]}]}",
      "{'a':[[{}],{}]}\n", "{'items':[]}" },
    { "an empty stream", SPLIT_FRAMES, "", "", "" },
    { "a stream of empty lines", SPLIT_FRAMES, "\r\n\n \t", "", "" },
    { "empty objects", SPLIT_FRAMES, "{}{}\n{}", "{}\n{}\n{}\n", "" },
    { "left out as the first member", SPLIT_FRAMES,
      "{'metadata':{'managedFields':[1],'a':1,'b':2}}", "{'metadata':{'a':1,'b':2}}\n", "" },
    { "left out in the middle", SPLIT_FRAMES, "{'metadata':{'a':1,'managedFields':{'x':[]},'b':2}}",
      "{'metadata':{'a':1,'b':2}}\n", "" },
    { "left out as the last member", SPLIT_FRAMES,
      "{'metadata':{'a':1,'b':2,'managedFields':'text'}}", "{'metadata':{'a':1,'b':2}}\n", "" },
    { "left out as the only member", SPLIT_FRAMES, "{'metadata':{'managedFields':[[{}]]},'b':2}",
      "{'metadata':{},'b':2}\n", "" },
    { "left out scalars", SPLIT_FRAMES,
      "{'status':{'images':null,'a':1},'metadata':{'a':1,'managedFields':-1.5e3}}",
      "{'status':{'a':1},'metadata':{'a':1}}\n", "" },
    { "left out of every element", SPLIT_FRAMES,
      "{'spec':{'volumes':{},'containers':[{'env':[],'name':'a','ports':[{'name':'x'},{'port':1,'"
      "name':'y'}]},{'name':'b',"
      "'env':null}]}}",
      "{'spec':{'containers':[{'name':'a','ports':[{},{'port':1}]},{'name':'b'}]}}\n", "" },
    { "left out of the object of a frame", SPLIT_FRAMES,
      "{'type':'ADDED','object':{'spec':{'volumes':[1],'a':{}},'status':{}}}",
      "{'type':'ADDED','object':{'spec':{'a':{}},'status':{}}}\n", "" },
    { "left out with what looks like an end in it", SPLIT_FRAMES,
      "{'metadata':{'managedFields':[{'a':'}]','b':{'metadata':{'managedFields':1}}}],'a':1}}",
      "{'metadata':{'a':1}}\n", "" },
    { "nothing is left out of the envelope", SPLIT_LIST,
      "{'metadata':{'managedFields':[{'items':[{}]}]},'items':[{}]}", "{}\n",
      "{'metadata':{'managedFields':[{'items':[{}]}]},'items':[]}" },
    { "the same names elsewhere are kept", SPLIT_FRAMES,
      "{'managedFields':1,'images':2,'spec':{'images':3,'managedFields':4},'metadata':{'images':5},"
      "'status':{'managedFields':6}}",
      "{'managedFields':1,'images':2,'spec':{'images':3,'managedFields':4},'metadata':{'images':5},"
      "'status':{'managedFields':6}}\n",
      "" },
    { "names that only begin so are kept", SPLIT_FRAMES,
      "{'status':{'image':1,'imagesize':2},'statu':{'images':3},'metadat':4,'metadata."
      "managedFields':5,'':6}",
      "{'status':{'image':1,'imagesize':2},'statu':{'images':3},'metadat':4,'metadata."
      "managedFields':5,'':6}\n",
      "" },
    { "the same path further in is kept", SPLIT_FRAMES,
      "{'spec':{'template':{'metadata':{'managedFields':[1]},'spec':{'volumes':[]}}}}",
      "{'spec':{'template':{'metadata':{'managedFields':[1]},'spec':{'volumes':[]}}}}\n", "" },
    { "the same names deeper are kept", SPLIT_FRAMES, "{'status':{'a':{'images':1}}}",
      "{'status':{'a':{'images':1}}}\n", "" },
    { "the same text as a value is kept", SPLIT_FRAMES,
      "{'metadata':{'a':'managedFields','b':['managedFields']}}",
      "{'metadata':{'a':'managedFields','b':['managedFields']}}\n", "" },
    { "an object after a scalar of a known name", SPLIT_FRAMES, "{'status':'x','a':{'images':1}}",
      "{'status':'x','a':{'images':1}}\n", "" },
    { "escapes pass as they are", SPLIT_FRAMES, "{'a\\'b\\\\':'\\\\\\\\\\'}','c':'\\n\\/\\u007b'}",
      "{'a\\'b\\\\':'\\\\\\\\\\'}','c':'\\n\\/\\u007b'}\n", "" },
    { "white space between items is left out, within one it is kept", SPLIT_LIST,
      "{ 'items' : [\n {'a' : 1 ,\t'metadata':{ 'managedFields' : [ 1 ] , 'b' : [ 1 , 2 ] } }\n "
      ",\n {} ] }",
      "{'a' : 1 \t,'metadata':{  'b' : [ 1 , 2 ] } }\n{}\n", "{'items':[]}" },
};

static void check_split(void **state)
{
    const struct split_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text), *items = json_quoted(row->items),
                      *envelope = json_quoted(row->envelope);
    CLEANUP_RUN struct run whole = run_whole(row->mode, text);
    assert_string_equal(err_msg(&whole.err), "");
    assert_int_equal(whole.rc, 0);
    assert_true(whole.complete);
    assert_string_equal(buf_text(&whole.items), items);
    assert_string_equal(whole.envelope, envelope);
}

/* Wherever the bytes are cut, the same comes out. */
static void check_every_cut(void **state)
{
    const struct split_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_RUN struct run whole = run_whole(row->mode, text);
    size_t len = strlen(text);
    CLEANUP_FREE size_t *every = xcalloc(len + 1, sizeof *every);
    for (size_t i = 0; i < len; i++) {
        every[i] = i;
        CLEANUP_RUN struct run cut = run_cut(row->mode, text, &i, 1);
        assert_same_run(&cut, &whole);
    }
    CLEANUP_RUN struct run byte_by_byte = run_cut(row->mode, text, every, len);
    assert_same_run(&byte_by_byte, &whole);
}

/* A stream that ends early is not complete, and what came out before is what would have come out.
 */
static void check_every_truncation(void **state)
{
    const struct split_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_RUN struct run whole = run_whole(row->mode, text);
    for (size_t len = 0; text[len]; len++) {
        CLEANUP_FREE char *part = xstrndup(text, len);
        CLEANUP_RUN struct run cut = run_whole(row->mode, part);
        assert_int_equal(cut.rc, 0);
        assert_memory_equal(buf_text(&cut.items), buf_text(&whole.items), cut.items.len);
        if (cut.complete && row->mode == SPLIT_LIST && *cut.envelope)
            assert_string_equal(cut.envelope, whole.envelope);
    }
}

static const struct refusal_row {
    const char *name;
    enum split_mode mode;
    const char *text;
    enum err_kind kind;
    size_t items; /* that came out before */
} refusals[] = {
    { "garbage is refused", SPLIT_FRAMES, "<html>", ERR_INVALID, 0 },
    { "a string is no frame", SPLIT_FRAMES, "{}'text'{}", ERR_INVALID, 1 },
    { "a number is no frame", SPLIT_FRAMES, "{}1", ERR_INVALID, 1 },
    { "an array is no frame", SPLIT_FRAMES, "{}[{}]", ERR_INVALID, 1 },
    { "a comma between frames", SPLIT_FRAMES, "{},{}", ERR_INVALID, 1 },
    { "an end without a beginning", SPLIT_FRAMES, "{}}", ERR_INVALID, 1 },
    { "ends that are crossed", SPLIT_FRAMES, "{'a':[}]", ERR_INVALID, 0 },
    { "an object where a key belongs", SPLIT_FRAMES, "{{}}", ERR_INVALID, 0 },
    { "two commas", SPLIT_FRAMES, "{'a':1,,'b':2}", ERR_INVALID, 0 },
    { "a comma before the first member", SPLIT_FRAMES, "{,'a':1}", ERR_INVALID, 0 },
    { "a comma after the last member", SPLIT_FRAMES, "{'a':1,}", ERR_INVALID, 0 },
    { "a comma after a member that is left out", SPLIT_FRAMES, "{'metadata':{'managedFields':1,}}",
      ERR_INVALID, 0 },
    { "a comma in place of members", SPLIT_FRAMES, "{,}", ERR_INVALID, 0 },
    { "a list that is an array", SPLIT_LIST, "[{}]", ERR_INVALID, 0 },
    { "a list that is a string", SPLIT_LIST, "'text'", ERR_INVALID, 0 },
    { "a list with something after it", SPLIT_LIST, "{'items':[{}]}x", ERR_INVALID, 1 },
    { "a second list after the first", SPLIT_LIST, "{'items':[{}]}{'items':[{}]}", ERR_INVALID, 1 },
    { "an item that is a string", SPLIT_LIST, "{'items':[{},'text']}", ERR_INVALID, 1 },
    { "an item that is a number", SPLIT_LIST, "{'items':[{},1]}", ERR_INVALID, 1 },
    { "an item that is null", SPLIT_LIST, "{'items':[null]}", ERR_INVALID, 0 },
    { "an item that is an array", SPLIT_LIST, "{'items':[[]]}", ERR_INVALID, 0 },
};

static void check_refusal(void **state)
{
    const struct refusal_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_RUN struct run r = run_whole(row->mode, text);
    assert_int_equal(r.rc, -1);
    assert_int_equal(r.err.kind, row->kind);
    assert_int_equal(r.count, row->items);
}

/* What the splitter does not judge reaches the parser unchanged, so that the parser does. */
static const struct verbatim_row {
    const char *name;
    const char *text;
} verbatim[] = {
    { "numbers with a space between them stay two", "{'a':1 2}" },
    { "a word in two parts stays in two", "{'a':tr ue}" },
    { "a missing colon", "{'a' 1}" },
    { "a missing comma", "{'a':1 'b':2}" },
    { "a key that is no string", "{1:2}" },
    { "a missing value", "{'a':}" },
    { "a raw newline in a string", "{'a':'x\ny'}" },
    { "an unknown escape", "{'a':'\\x'}" },
    { "a comma too many in an array", "{'a':[1,]}" },
    { "a key given twice", "{'a':1,'a':2}" },
};

static void check_verbatim(void **state)
{
    const struct verbatim_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_RUN struct run r = run_whole(SPLIT_FRAMES, text);
    assert_int_equal(r.rc, 0);
    CLEANUP_FREE char *want = xasprintf("%s\n", text);
    assert_string_equal(buf_text(&r.items), want);
    assert_null(json_parse(r.items.data, r.items.len, NULL));
}

static const struct truncated_row {
    const char *name;
    const char *text;
} truncated[] = {
    { "a frame cut in an object is not complete", "{}{'a':{" },
    { "a frame cut in a string is not complete", "{}{'a':'x" },
    { "a frame cut in a key is not complete", "{}{'a" },
    { "a frame cut after an escape is not complete", "{}{'a':'\\" },
    { "a frame cut in what is left out is not complete", "{}{'metadata':{'managedFields':[" },
};

static void check_truncated(void **state)
{
    const struct truncated_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_RUN struct run r = run_whole(SPLIT_FRAMES, text);
    assert_int_equal(r.rc, 0);
    assert_false(r.complete);
    assert_string_equal(buf_text(&r.items), "{}\n");
}

/* depth objects in one another, as text. */
static char *nested(size_t depth)
{
    struct buf b = BUF_INIT(1 << 20);
    for (size_t i = 1; i < depth; i++)
        buf_str(&b, "{\"a\":");
    buf_str(&b, "{");
    for (size_t i = 0; i < depth; i++)
        buf_str(&b, "}");
    return buf_take(&b);
}

static void nesting_has_a_limit(void **state)
{
    (void) state;
    CLEANUP_FREE char *deepest = nested(SPLIT_DEPTH_MAX), *too_deep = nested(SPLIT_DEPTH_MAX + 1);
    CLEANUP_RUN struct run good = run_whole(SPLIT_FRAMES, deepest);
    CLEANUP_RUN struct run bad = run_whole(SPLIT_FRAMES, too_deep);
    assert_int_equal(good.count, 1);
    assert_int_equal(bad.rc, -1);
    assert_int_equal(bad.err.kind, ERR_TOO_LARGE);
}

/* The API server stores managed fields as deep as a client has sent them. */
static void nesting_has_no_limit_in_what_is_left_out(void **state)
{
    (void) state;
    CLEANUP_FREE char *deep = nested(9000);
    CLEANUP_FREE char *text = xasprintf(
        "{\"metadata\":{\"managedFields\":[%s,{\"b\":1}],\"a\":1}}{\"metadata\":{}}", deep);
    CLEANUP_RUN struct run r = run_whole(SPLIT_FRAMES, text);
    assert_int_equal(r.rc, 0);
    assert_true(r.complete);
    assert_string_equal(buf_text(&r.items), "{\"metadata\":{\"a\":1}}\n{\"metadata\":{}}\n");
}

/* 16 MiB are an item's limit, 64 KiB an envelope's. A longer key is left out. */
static const struct size_row {
    const char *name;
    enum split_mode mode;
    const char *before;
    size_t filler;
    const char *after;
    enum err_kind kind;
} sizes[] = {
    { "an item of 16 MB is taken", SPLIT_FRAMES, "{'a':'", 16000000, "'}", ERR_NONE },
    { "an item of 17 MB is too large", SPLIT_FRAMES, "{'a':'", 17000000, "'}", ERR_TOO_LARGE },
    { "an item of a list may be as large", SPLIT_LIST, "{'items':[{'a':'", 16000000, "'}]}",
      ERR_NONE },
    { "an envelope of 60 KB is taken", SPLIT_LIST, "{'a':'", 60000, "'}", ERR_NONE },
    { "an envelope of 70 KB is too large", SPLIT_LIST, "{'a':'", 70000, "'}", ERR_TOO_LARGE },
    { "a key of 60 KB is taken", SPLIT_FRAMES, "{'", 60000, "':1}", ERR_NONE },
    { "a key of 70 KB is left out", SPLIT_FRAMES, "{'", 70000, "':1}", ERR_NONE },
    { "what is left out has no limit", SPLIT_FRAMES, "{'metadata':{'managedFields':'", 20000000,
      "'}}", ERR_NONE },
    { "white space between frames has no limit", SPLIT_FRAMES, "{}", 0, "", ERR_NONE },
};

static void check_size(void **state)
{
    const struct size_row *row = *state;
    CLEANUP_FREE char *before = json_quoted(row->before), *after = json_quoted(row->after);
    struct run r = { .items = BUF_INIT(64 << 20) };
    CLEANUP(split_clear) struct split s;
    split_init(&s, row->mode, &view, take_item, &r);
    static char filler[10000];
    memset(filler, row->filler ? 'x' : '\n', sizeof filler);
    size_t pieces = row->filler ? row->filler / sizeof filler : 1000;
    int rc = split_feed(&s, before, strlen(before), &r.err);
    for (size_t i = 0; i < pieces && rc == 0; i++)
        rc = split_feed(&s, filler, sizeof filler, &r.err);
    if (rc == 0)
        rc = split_feed(&s, after, strlen(after), &r.err);
    assert_int_equal(r.err.kind, row->kind);
    assert_int_equal(rc, row->kind == ERR_NONE ? 0 : -1);
    run_clear(&r);
}

/* Whoever may write an object must not blind Ostler to all others. */
static const struct bad_row {
    const char *name;
    enum split_mode mode;
    const char *before, *open, *close, *after; /* `open` and `close` come so many times each */
    size_t times;
} bad_items[] = {
    { "an item that is too deep costs itself", SPLIT_LIST,
      "{'items':[{'a':1},{'name':'b','spec':", "[", "]", ",'x':[{}]},{'c':{}}],'m':{}}", 300 },
    { "a frame that is too deep costs itself", SPLIT_FRAMES,
      "{'a':1}\n{'name':'b','spec':", "{'d':[", "]}", ",'x':[{}]}\n{'c':{}}\n", SPLIT_DEPTH_MAX },
    { "an item that is one level too deep costs itself", SPLIT_LIST,
      "{'items':[{'a':1},{'name':'b','spec':", "[", "]", "},{'c':{}}]}", SPLIT_DEPTH_MAX - 2 },
    { "an item that is too large costs itself", SPLIT_LIST,
      "{'items':[{'a':1},{'name':'b','spec':'", "x", "", "','x':[{'y':'\\\\'}]},{'c':{}}],'m':{}}",
      17 << 20 },
    { "a frame that is too large costs itself", SPLIT_FRAMES, "{'a':1}\n{'name':'b','spec':[",
      "{'f':1},", "", "1],'x':{}}\n{'c':{}}\n", (17 << 20) / 8 },
};

/* Of a bad item, its beginning is enough to be seen. */
static int take_bad(void *arg, const char *text, size_t len, const struct err *why, struct err *e)
{
    (void) e;
    static const char begin[] = "{\"name\":\"b\",\"spec\"";
    struct run *r = arg;
    assert_int_equal(why->kind, ERR_TOO_LARGE);
    assert_true(len > sizeof begin);
    assert_memory_equal(text, begin, sizeof begin - 1);
    buf_str(&r->items, "bad\n");
    return 0;
}

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    struct buf text = BUF_INIT(64 << 20);
    buf_str(&text, row->before);
    for (size_t i = 0; i < row->times; i++)
        buf_str(&text, row->open);
    for (size_t i = 0; i < row->times; i++)
        buf_str(&text, row->close);
    buf_str(&text, row->after);
    CLEANUP_FREE char *plain = buf_take(&text), *quoted = json_quoted(plain);
    for (size_t piece = 3; piece <= 3 << 20; piece <<= 20) {
        CLEANUP_RUN struct run r = { .items = BUF_INIT(1 << 20) };
        CLEANUP(split_clear) struct split s;
        split_init(&s, row->mode, NULL, take_item, &r);
        s.on_bad = take_bad;
        size_t len = strlen(quoted);
        for (size_t at = 0; at < len && r.rc == 0; at += piece)
            r.rc = split_feed(&s, quoted + at, len - at < piece ? len - at : piece, &r.err);
        assert_int_equal(r.rc, 0);
        assert_true(split_complete(&s));
        CLEANUP_FREE char *items = json_quoted("{'a':1}\nbad\n{'c':{}}\n");
        assert_string_equal(buf_text(&r.items), items);
    }
}

static int refuse_second(void *arg, const char *text, size_t len, struct err *e)
{
    int *count = arg;
    (void) text;
    (void) len;
    return ++*count == 2 ? err_set(e, ERR_CONFLICT, "enough") : 0;
}

static void item_function_can_end_the_stream(void **state)
{
    (void) state;
    int count = 0;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP(split_clear) struct split s;
    split_init(&s, SPLIT_FRAMES, NULL, refuse_second, &count);
    assert_int_equal(split_feed(&s, "{}{}{}", 6, &e), -1);
    assert_int_equal(count, 2);
    assert_int_equal(e.kind, ERR_CONFLICT);
}

static void nothing_is_left_out_unless_said(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'metadata':{'managedFields':[{'manager':'x'}]},'status':{'images':[1]}}\n");
    struct run r = { .items = BUF_INIT(1 << 20) };
    CLEANUP(split_clear) struct split s;
    split_init(&s, SPLIT_FRAMES, NULL, take_item, &r);
    assert_int_equal(split_feed(&s, text, strlen(text), &r.err), 0);
    assert_string_equal(buf_text(&r.items), text);
    run_clear(&r);
}

static const struct object_row {
    const char *name;
    const char *text;
    const char *want; /* NULL: an error */
} objects[] = {
    { "an object without what is left out",
      "{'metadata':{'managedFields':[1],'name':'a'},'status':{'images':[]}}",
      "{'metadata':{'name':'a'},'status':{}}" },
    { "an empty object", " {} ", "{}" },
    { "nothing is no object", "", NULL },
    { "an array is no object", "[]", NULL },
    { "half an object", "{'a':1", NULL },
    { "an object that is not JSON", "{'a':}", NULL },
    { "two objects", "{}{}", NULL },
};

static void check_object(void **state)
{
    const struct object_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *got = split_object(text, strlen(text), &view, &e);
    assert_int_equal(e.kind, row->want ? ERR_NONE : ERR_INVALID);
    assert_int_equal(got != NULL, row->want != NULL);
    if (got)
        assert_tree(got, row->want);
}

static const struct object_row begun[] = {
    { "a text that broke off in what is left out",
      "{'metadata':{'name':'a','managedFields':[{'b':[1,{", "{'metadata':{'name':'a'}}" },
    { "a text that broke off in a string that is left out",
      "{'metadata':{'name':'a'},'spec':{'volumes':'x\\", "{'metadata':{'name':'a'},'spec':{}}" },
    { "a text that broke off in what is copied", "{'metadata':{'name':'a'},'spec':{'x':[", NULL },
    { "a text that broke off in a key", "{'metadata':{'name':'a'},'spec", NULL },
    { "an object that has its end", "{'metadata':{'name':'a'}}", "{'metadata':{'name':'a'}}" },
};

static void check_begun(void **state)
{
    const struct object_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_JSON json_t *got = split_object_begun(text, strlen(text), &view);
    assert_int_equal(got != NULL, row->want != NULL);
    if (got)
        assert_tree(got, row->want);
}

int main(void)
{
    struct suite s = { 0 };
    char *names[2 * ARRAY_LEN(splits)] = { NULL };
    SUITE_ROWS(&s, check_split, splits);
    for (size_t i = 0; i < ARRAY_LEN(splits); i++) {
        names[2 * i] = xasprintf("cut anywhere: %s", splits[i].name);
        names[2 * i + 1] = xasprintf("ended anywhere: %s", splits[i].name);
        suite_add(&s, names[2 * i], check_every_cut, &splits[i]);
        suite_add(&s, names[2 * i + 1], check_every_truncation, &splits[i]);
    }
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_verbatim, verbatim);
    SUITE_ROWS(&s, check_truncated, truncated);
    SUITE_ROWS(&s, check_size, sizes);
    SUITE_ROWS(&s, check_bad, bad_items);
    suite_add(&s, "nesting has a limit", nesting_has_a_limit, NULL);
    suite_add(&s, "nesting has no limit in what is left out",
              nesting_has_no_limit_in_what_is_left_out, NULL);
    suite_add(&s, "the item function can end the stream", item_function_can_end_the_stream, NULL);
    suite_add(&s, "nothing is left out unless said", nothing_is_left_out_unless_said, NULL);
    SUITE_ROWS(&s, check_object, objects);
    SUITE_ROWS(&s, check_begun, begun);
    int failed = suite_run(&s, "split");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        mem_cleanup_free(&names[i]);
    return failed;
}
