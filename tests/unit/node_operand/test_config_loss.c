/* What containerd's configuration loses, from its dumps. */
#include "node/operand/config_loss.h"

#include <string.h>

#include "tests/unit/support/suite.h"

#define CRI "[plugins.\"io.containerd.grpc.v1.cri\"]\n"
#define PAUSE "  sandbox_image = \"registry.example/pause:3.9\"\n"
#define RUNC                                                                                       \
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n  runtime_type = "          \
    "\"io.containerd.runc.v2\"\n"
#define OPTIONS                                                                                    \
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n  SystemdCgroup = "
#define NVIDIA                                                                                     \
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n  runtime_type = "        \
    "\"io.containerd.runc.v2\"\n"
#define DEFAULT "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n  default_runtime_name = "
#define IMAGES3 "[plugins.'io.containerd.cri.v1.images'.pinned_images]\n  sandbox = "

static const struct row {
    const char *name, *before, *after, *lost;
    enum config_loss loss;
} rows[] = {
    { "nothing changes", CRI PAUSE, CRI PAUSE, "", CONFIG_KEPT },
    { "a runtime of NVIDIA's comes", CRI PAUSE RUNC, CRI PAUSE RUNC NVIDIA, "", CONFIG_KEPT },
    { "and goes, as an older toolkit left it", CRI PAUSE NVIDIA, CRI PAUSE, "", CONFIG_KEPT },
    { "a drop-in is imported", "imports = []\n" CRI PAUSE,
      "imports = [\"/etc/containerd/conf.d/*.toml\"]\n" CRI PAUSE, "", CONFIG_KEPT },
    { "NVIDIA's runtime becomes the default", DEFAULT "\"runc\"\n", DEFAULT "\"nvidia\"\n", "",
      CONFIG_KEPT },
    { "another runtime becomes the default", DEFAULT "\"crun\"\n", DEFAULT "\"runc\"\n",
      "plugins.io.containerd.grpc.v1.cri.containerd.default_runtime_name (\"crun\" became "
      "\"runc\")",
      CONFIG_LOST },
    { "CDI is switched on", CRI "enable_cdi = false\n", CRI "enable_cdi = true\n", "",
      CONFIG_KEPT },
    { "CDI is switched off", CRI "enable_cdi = true\n", CRI "enable_cdi = false\n",
      "plugins.io.containerd.grpc.v1.cri.enable_cdi", CONFIG_LOST },
    { "the sandbox's image is the default again", IMAGES3 "'registry.example/pause:3.9'\n",
      IMAGES3 "'registry.k8s.io/pause:3.10'\n",

      "plugins.io.containerd.cri.v1.images.pinned_images.sandbox ('registry.example/pause:3.9'"
      " became 'registry.k8s.io/pause:3.10')",
      CONFIG_LOST },
    { "runc is gone", CRI PAUSE RUNC OPTIONS "true\n", CRI PAUSE NVIDIA,
      "plugins.io.containerd.grpc.v1.cri.containerd.runtimes.runc.runtime_type (it was "
      "\"io.containerd.runc.v2\"), "
      "plugins.io.containerd.grpc.v1.cri.containerd.runtimes.runc.options.SystemdCgroup (it was "
      "true)",
      CONFIG_LOST },
    { "what was empty may go", CRI PAUSE "x = \"\"\ny = []\nz = 0\n", CRI PAUSE, "", CONFIG_KEPT },
    { "a password is not shown", "[registry.auth]\npassword = \"geheim\"\n", "version = 2\n",
      "registry.auth.password", CONFIG_LOST },
    { "kinds of quotes do not matter in names", "[plugins.\"a.b\"]\n\"c\" = 1\n",
      "[plugins.'a.b']\nc = 1\n", "", CONFIG_KEPT },
    { "a list of several lines", "a = [\n  \"x]\",\n  \"y\"\n]\nb = 1\n",
      "a = [\n  \"x]\",\n]\nb = 1\n", "a", CONFIG_LOST },
    { "tables in a list", "[[a]]\nb = 1\n[[a]]\nb = 2\n", "[[a]]\nb = 1\n", "a[1].b", CONFIG_LOST },
    { "many", "a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\n", "x = 1\n", "a, b, c, d and 2 more",
      CONFIG_LOST },
    { "an equals sign in a name", "[t]\n'a=b' = 1\n", "[t]\n\"a=b\" = 2\n", "t.a=b", CONFIG_LOST },
    { "no dump before", "", "a = 1\n", "", CONFIG_UNREADABLE },
    { "no dump afterwards", "a = 1\n", "", "", CONFIG_UNREADABLE },
    { "words of a program that failed", "a = 1\n", "containerd: failed to load TOML\n", "",
      CONFIG_UNREADABLE },
    { "a string that does not end", "a = \"x\n", "a = 1\n", "", CONFIG_UNREADABLE },
    { "a list that does not end", "a = [\n1,\n", "a = 1\n", "", CONFIG_UNREADABLE },
    { "a string of several lines", "a = '''\nx\n'''\n", "a = 1\n", "", CONFIG_UNREADABLE },
    { "half a head", "[a\nb = 1\n", "a = 1\n", "", CONFIG_UNREADABLE },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf lost = BUF_INIT(4096);
    assert_int_equal(config_loss(row->before, row->after, &lost), row->loss);
    assert_string_equal(buf_text(&lost), row->lost);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "config loss");
}
