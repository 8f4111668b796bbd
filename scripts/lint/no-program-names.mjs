// A rule for oxlint: what is known of a program stands in the table of programs, so no other source file names one.
import { readdirSync, readFileSync } from "node:fs";

const table = new URL("../../packages/governance/src/programs/", import.meta.url);

/** Names that are words of English, or of the product itself. */
const words = new Set(
  (
    "git go bundle composer mix rush np pod elm ant melos hub tea helm oc k draft tilt garden flux argo img ko jib nomad py hatch rye invoke inv " +
    "fab poe tk dart flutter changeset surge bumpp jsr choco paket crane now flit conda mamba apk stack"
  ).split(" "),
);

/**
 * Where some are named all the same, and why. This list only becomes shorter.
 * @type {readonly (readonly [reason: string, names: string, paths: RegExp])[]}
 */
const exceptions = [
  [
    "examples in texts for people",
    "npm npx",
    /^(?:agent\/src\/scenarios|cli\/src|protocol\/src\/errors|repl\/src\/hosts|server\/src\/page)\/|^sessions\/src\/attempts\/server-attempts/,
  ],
  ["what the model is told of logins", "gh", /^sessions\/src\/tools\/commands\/bash-tool\.ts$/],
  ["where a user's login is, and what people are told of it", "npm gh cargo", /^egress\/src\/keys\//],
  [
    "names of files and of directories",
    "cargo deno docker brew gem gh pip uv dotnet python tox lerna nx mvn mvnw gradle gradlew sbt",
    /^governance\/src\/(?:policies\/files\/control-paths|command\/secret-paths)\.ts$|^stage\/src\/sandbox\/cover\/shown-secrets\.ts$|^machine\/src\/host\/tool-homes\.ts$|^sessions\/src\/context\/detect-check\.ts$/,
  ],
  ["rules in the form in which people write them", "npm docker podman", /^governance\/src\/rules\/floor-rules\.ts$/],
  ["shapes of tokens, and words beside them", "gh docker nuget tkn", /^machine\/src\/redaction\//],
  [
    "which package a person should install",
    "apt dnf brew docker",
    /^shell\/src\/(?:machine-checks|open-sandbox)\.ts$|^stage\/src\/sandbox\/namespace-advice\.ts$/,
  ],
  ["a registry for tests", "npm", /^testkit\//],
];

const managers =
  /^(?:npm|pnpm|yarn|bun|cargo|cabal|composer|cpan|go|maven|python|ruby|other-managers|forges|containers)\.ts$/;
const names = readdirSync(table)
  .filter((file) => managers.test(file))
  .flatMap((file) => [...readFileSync(new URL(file, table), "utf8").matchAll(/\bnames:\s*"([^"]+)"/g)])
  .flatMap(([, all = ""]) => all.split(" "))
  .filter((name) => !words.has(name));
const pattern = new RegExp(
  `(?<![\\w@./-])(?:${names.map((name) => name.replaceAll(/[.+]/g, "\\$&")).join("|")})(?![\\w/-]|\\.\\w)`,
  "g",
);

const rule = {
  meta: {
    type: "problem",
    messages: {
      named: "{{name}} is in the table of programs: ask its declaration, in packages/governance/src/programs.",
    },
  },
  /** @param {{ filename: string, report(problem: { node: unknown, messageId: string, data: { name: string } }): void }} context */
  create(context) {
    const [, file] = /\/packages\/([^/]+\/src\/.*)$/.exec(context.filename.replaceAll("\\", "/")) ?? [];
    if (file === undefined || file.startsWith("governance/src/programs/")) return {};
    const allowed = new Set(exceptions.flatMap(([, some, paths]) => (paths.test(file) ? some.split(" ") : [])));
    /** @param {unknown} node @param {string} text */
    const look = (node, text) => {
      for (const [name] of text.matchAll(pattern)) {
        if (!allowed.has(name)) context.report({ node, messageId: "named", data: { name } });
      }
    };
    return {
      /** @param {{ value: unknown, regex?: { pattern: string }, parent: { type: string } }} node */
      Literal(node) {
        if (/^(?:Import|Export)/.test(node.parent.type)) return;
        if (node.regex !== undefined) look(node, node.regex.pattern);
        else if (typeof node.value === "string") look(node, node.value);
      },
      /** @param {{ value: { raw: string } }} node */
      TemplateElement(node) {
        look(node, node.value.raw);
      },
      /** @param {{ key: { type: string, name: string }, computed: boolean }} node of an object, not of a type */
      Property(node) {
        if (!node.computed && node.key.type === "Identifier") look(node, node.key.name);
      },
      /** @param {{ value: string }} node */
      JSXText(node) {
        look(node, node.value);
      },
    };
  },
};

export default { meta: { name: "gennai-programs" }, rules: { "no-program-names": rule } };
