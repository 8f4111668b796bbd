import { scenarioSchema } from "../../../packages/agent/src/scenarios/parse-scenarios.ts";
import { hooksSchema } from "../../../packages/governance/src/hooks/hook-config.ts";
import { policySchema } from "../../../packages/governance/src/limits/policy-schema.ts";
import { peopleSchema } from "../../../packages/machine/src/config/people-file.ts";
import { projectConfigSchema } from "../../../packages/machine/src/config/project-config.ts";
import { serverConfigSchema } from "../../../packages/machine/src/config/server-config.ts";
import { webConfigSchema } from "../../../packages/machine/src/web/web-config.ts";
import { modelsFileSchema } from "../../../packages/models/src/models-file.ts";
import { mcpServerSchema } from "../../../packages/sessions/src/mcp/mcp-config.ts";
import { extensionManifest } from "./extension-manifest.mjs";
import { code, page, table } from "./markdown.mjs";
import { schemaRows } from "./schema-rows.mjs";

const files = [
  {
    title: "Project: .gennai/config.yaml",
    about: "In the workspace, read at the start of each turn. [More](../rules.md#project-configuration)",
    schema: projectConfigSchema,
  },
  {
    title: "Project: .gennai/scenarios/*.yaml",
    about: "In the workspace: a map `NAME:` of these fields. [How to write one](../guides/write-a-scenario.md)",
    schema: scenarioSchema,
  },
  {
    title: "Hooks: hooks.json",
    about:
      "The user's own in `~/.config/gennai/hooks.json`, a workspace's in `.gennai/hooks.json`, which runs only after `gennai hooks trust`. [More](../rules.md#external-hooks)",
    schema: hooksSchema,
  },
  {
    title: "MCP servers: mcp.json",
    about:
      'The user\'s own in `~/.config/gennai/mcp.json`, a workspace\'s in `.mcp.json`: `{"mcpServers": {"NAME": { … }}}` with these fields. `${NAME}` in a value is a variable of your environment, `${NAME:-words}` the words where it is not set. [How to connect one](../guides/connect-an-mcp-server.md)',
    schema: mcpServerSchema,
  },
  {
    title: "The server: server.json",
    about:
      "In `~/.config/gennai/` of the user who runs the server, read at its start. A file that cannot be used keeps a server from starting.",
    schema: serverConfigSchema,
  },
  {
    title: "Who answers elsewhere: people.yaml",
    about:
      "In `~/.config/gennai/`, readable by its user alone, read at the server's start. [More](../guides/answer-from-elsewhere.md)",
    schema: peopleSchema,
  },
  {
    title: "Web pages: web.json",
    about: "In `~/.config/gennai/`. Without it no page is fetched.",
    schema: webConfigSchema,
  },
  {
    title: "Models: models.json",
    about:
      "In `~/.config/gennai/`: what you know better about models than the catalogue that comes along. Budgets of cost need the prices. [More](../guides/add-a-model.md#what-it-can-take-and-what-it-costs)",
    schema: modelsFileSchema,
  },
  {
    title: "Policy: root's, and signed ones",
    about:
      "Root's in `/etc/gennai/policy.yaml` and `policy.d/*.yaml` ([more](../managed-policy.md)). A user's is what `gennai policy sign` takes; what it prints goes to `~/.config/gennai/policy.json`. Signed, it needs `issued`, `expires` and `serial`. [More](../rules.md#signed-policies)",
    schema: policySchema,
  },
];

export function settingsPage() {
  return page(
    "# Settings",
    "Options of commands are in [the command line](cli.md). `~/.config/gennai` is `$XDG_CONFIG_HOME/gennai` where that is set, and `%APPDATA%\\gennai` on Windows.",
    ...files.flatMap(({ title, about, schema }) => [
      `## ${title}`,
      about,
      table(
        ["field", "type", "default", "means"],
        schemaRows(/** @type {import("./schema-rows.mjs").Schema} */ (schema.toJSONSchema({ io: "input" }))).filter(
          // The events of hooks have a table of their own.
          ([field = ""]) => schema === hooksSchema || !/^`hooks\.[A-Z]/.test(field),
        ),
      ),
    ]),
    "## Rules and intents",
    "`rules.yaml` and `active_intents.yaml` are read leniently, as they are found in the wild: [rule files](../rules.md#rule-files) and [intents](../rules.md#intents) say what they hold.",
    "## VS Code",
    "The scope says where a setting counts: `machine` ones cannot be set by a workspace.",
    table(["setting", "type", "default", "scope", "means"], editorRows()),
  );
}

/**
 * @typedef {object} EditorSetting
 * @property {string} type
 * @property {number} order
 * @property {string} scope
 * @property {unknown} default
 * @property {readonly string[]} [enum]
 * @property {readonly string[]} [enumDescriptions]
 * @property {string} [markdownDescription]
 * @property {string} [deprecationMessage]
 */

/** The extension's settings, in the order in which the editor shows them. @returns {string[][]} */
function editorRows() {
  /** @type {{ contributes: { configuration: { properties: Record<string, EditorSetting> } } }} */
  const { contributes } = JSON.parse(extensionManifest().text);
  const settings = Object.entries(contributes.configuration.properties);
  settings.sort(([, one], [, other]) => one.order - other.order);
  return settings.map(([name, setting]) => [
    code(name),
    setting.enum === undefined ? setting.type : setting.enum.map((each) => code(each) || "empty").join(", "),
    setting.default === "" ? "empty" : code(JSON.stringify(setting.default)),
    setting.scope,
    [
      setting.markdownDescription ?? setting.deprecationMessage ?? "",
      ...(setting.enumDescriptions ?? []).map((text, index) => `${code(setting.enum?.[index] ?? "")}: ${text}`),
    ].join(" "),
  ]);
}
