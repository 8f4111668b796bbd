import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { readHostLayout } from "#host/host-layout";

/** What is shown of a home, below it; `PATH` and variables name paths below it. */
async function shownOf(
  files: readonly string[],
  {
    path = [],
    links = {},
    variables = {},
    shown = [],
  }: {
    readonly path?: readonly string[];
    readonly links?: Readonly<Record<string, string>>;
    readonly variables?: Readonly<Record<string, string>>;
    readonly shown?: readonly string[];
    /** Links that are expected, besides what is shown. */
    readonly kept?: readonly string[];
  },
) {
  await using home = await temporaryDirectory(Object.fromEntries(files.map((file) => [file, ""])));
  const at = (below: string): string => join(home.root, below);
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(at(link)), { recursive: true });
    symlinkSync(target.startsWith("~/") ? at(target.slice(2)) : target, at(link));
  }
  const environment = Object.fromEntries(Object.entries(variables).map(([name, below]) => [name, at(below)]));
  const layout = readHostLayout({
    home: home.root,
    environment: { ...environment, PATH: [...path.map(at), "relative", "/usr/bin"].join(":") },
    privateDirectories: [],
    shown: shown.map(at),
  });
  const below = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((one) => (one.startsWith(`${home.root}/`) ? one.slice(home.root.length + 1) : [])).sort();
  expect(layout.readable).not.toContain("/");
  expect(layout.readable).not.toContain(home.root);
  return { shown: below(layout.readable), links: below(layout.links.map((link) => link.path)) };
}

test.each<readonly [string, readonly string[], Parameters<typeof shownOf>[1], readonly string[]]>([
  ["the home's own bin", ["bin/x", "lib/y", "notes.txt"], { path: ["bin"] }, ["bin"]],
  ["the home itself is no directory of programs", ["x"], { path: ["", "../"] }, []],
  [
    "of an unknown prefix what programs need",
    ["t/bin/x", "t/lib/x", "t/share/x", "t/libexec/x", "t/credentials.json", "t/etc/x"],
    { path: ["t/bin"] },
    ["t/bin", "t/lib", "t/libexec", "t/share"],
  ],
  [
    ".local is the home of many tools",
    [".local/bin/x", ".local/share/x", ".local/lib/x"],
    { path: [".local/bin"] },
    [".local/bin", ".local/lib"],
  ],
  [
    "of the tools that are known the parts that are needed",
    [
      ...[".cargo/bin/x", ".cargo/env", ".cargo/registry/x", ".cargo/config.toml", ".nvm/versions/x", ".nvm/.npmrc"],
      ...[".pulumi/bin/x", ".pulumi/credentials.json", ".opam/default/bin/x", ".opam/config", "sdk/go1/src/x"],
    ],
    { path: [".cargo/bin", ".pulumi/bin"] },
    [".cargo/bin", ".cargo/env", ".cargo/registry", ".nvm/versions", ".opam/default/bin", ".pulumi/bin", "sdk/go1/src"],
  ],
  [
    "also where a variable says that they are elsewhere",
    ["rust/bin/x", "rust/credentials.toml", "jdk/conf/x", "jdk/secrets/x", "a/bin/x", "a/pkg/x", "a/src/x"],
    { variables: { CARGO_HOME: "rust", JAVA_HOME: "jdk", GOPATH: "a" } },
    ["a/bin", "a/pkg", "jdk/conf", "rust/bin"],
  ],
  [
    "the package of a link's target",
    ["tools/tool/src/cli.js", "tools/tool/package.json", "tools/other/x"],
    { path: [".local/bin"], links: { ".local/bin/tool": "~/tools/tool/src/cli.js" } },
    [".local/bin", "tools/tool"],
  ],
  [
    "of a package in node_modules all beside it, which it may need",
    ["g/node_modules/a/cli.js", "g/node_modules/b/x", "g/.npmrc"],
    { path: ["bin"], links: { "bin/a": "../g/node_modules/a/cli.js" } },
    ["bin", "g/node_modules"],
  ],
  [
    "a venv, and the prefix of its python",
    ["v/pyvenv.cfg", "v/bin/black", "py/bin/python3.12", "py/lib/x", "py/etc/x"],
    { path: ["bin"], links: { "bin/black": "../v/bin/black", "v/bin/python3": "~/py/bin/python3.12" } },
    ["bin", "py/bin", "py/lib", "v"],
  ],
  [
    "the file alone of a script without a package",
    ["scripts/x.sh", "scripts/y"],
    { path: ["bin"], links: { "bin/x": "../scripts/x.sh" } },
    ["bin", "scripts/x.sh"],
  ],
  [
    "links on the way, again as links",
    ["dot/bin/x", "apps/t-2/bin/t", "apps/t-2/lib/t", "apps/t-2/.env"],
    {
      path: ["bin"],
      links: { bin: "dot/bin", "dot/bin/t": "~/apps/t/bin/t", "apps/t": "t-2" },
      kept: ["apps/t", "bin"],
    },
    ["apps/t-2/bin", "apps/t-2/lib", "dot/bin"],
  ],
  [
    "nothing where the package would be the home",
    ["package.json", "s/x", "y"],
    { path: ["bin"], links: { "bin/x": "../s/x" } },
    ["bin", "s/x"],
  ],
  [
    "no directory of secrets",
    [".ssh/x", ".aws/bin/x"],
    { path: [".ssh", ".aws/bin", "bin"], links: { "bin/x": "../.ssh/x" }, shown: [".ssh"] },
    ["bin"],
  ],
  ["what the user wants to be seen", ["data/x", "more/x"], { shown: ["data", ""] }, ["data"]],
])("%s", async (_name, files, options, shown) => {
  const { kept = [] } = options;
  expect(await shownOf(files, options)).toEqual({ shown, links: kept });
});
