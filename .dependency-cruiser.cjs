/**
 * Imports point one way:
 *   protocol <- governance <- agent <- machine <- git <- stage <- egress <- shell <- store <- sessions <- guard <- server <- rina <- cli
 *   store <- provenance <- server, cli; machine <- models <- sessions
 *   protocol <- client <- repl, vscode, acp <- cli
 *   protocol, governance, repl <- ledger-page
 */
const belowSessions = [
  ...["protocol", "governance", "agent", "machine", "git", "stage", "egress", "shell", "store", "models"],
];
const mayImport = {
  protocol: [],
  governance: ["protocol"],
  agent: ["protocol", "governance"],
  machine: ["protocol", "governance", "agent"],
  git: ["protocol", "governance", "machine"],
  stage: ["protocol", "governance", "machine", "git"],
  egress: ["protocol", "governance", "machine", "git", "stage"],
  shell: ["protocol", "governance", "machine", "git", "stage", "egress"],
  store: ["protocol", "governance", "agent", "machine", "git", "stage", "egress", "shell"],
  models: ["protocol", "governance", "agent", "machine"],
  sessions: [...belowSessions],
  provenance: ["protocol", "governance", "machine", "git", "store"],
  guard: [...belowSessions, "sessions"],
  server: [...belowSessions, "provenance", "sessions", "guard"],
  rina: ["protocol", "governance", "agent", "machine", "sessions", "server"],
  client: ["protocol"],
  repl: ["protocol", "client"],
  vscode: ["protocol", "client"],
  "ledger-page": ["protocol", "governance", "repl"],
  acp: ["protocol", "client"],
  cli: [...belowSessions, "provenance", "sessions", "guard", "server", "rina", "client", "acp"],
  testkit: [...belowSessions, "provenance", "sessions", "guard", "server", "client"],
};

const direction = Object.entries(mayImport).map(([name, allowed]) => ({
  name: `${name}-imports-only-${["itself", ...allowed].join("-")}`,
  comment: "Imports point one way; docs/architecture.md says which.",
  severity: "error",
  from: { path: `^packages/${name}/src/` },
  to: { path: "^packages/", pathNot: `^packages/(${[name, ...allowed].join("|")})/src/` },
}));

/** Folders of governance from the bottom up: at run time, none imports one that comes later. Each is its own files alone. */
const rooms = [
  ...["", "programs", "command/words", "command/dangers", "command", "network", "rules/compile", "rules"],
  ...["ledger", "ledger/anchor", "policies/files", "policies", "hooks", "limits", "intents"],
  ...["gate/decide", "gate/confirm", "gate"],
].map((name) => `packages/governance/src/${name}`.replace(/\/$/, ""));

const upwards = [
  ...rooms.slice(0, -1).map((room, index) => ({
    name: `${room.replaceAll("/", "-").replace("packages-governance-src", "governance")}-imports-only-below`,
    comment: "Anyone who opens a folder can read it from the bottom up; the list says in which order.",
    severity: "error",
    from: { path: `^${room}/[^/]+$` },
    to: { path: `^(${rooms.slice(index + 1).join("|")})/[^/]+$`, dependencyTypesNot: ["type-only"] },
  })),
  {
    name: "governance-has-no-other-folders",
    comment: "A new one has a place in the list.",
    severity: "error",
    from: {},
    to: { path: "^packages/governance/src/", pathNot: `^(${rooms.join("|")})/[^/]+$` },
  },
];

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...direction,
    ...upwards,
    {
      name: "no-cycles",
      comment: "At run time; types may name each other.",
      severity: "error",
      from: { path: "^packages/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "the-table-of-programs-is-data",
      comment: "What it declares is read by others; of them it knows types alone.",
      severity: "error",
      from: { path: "^packages/governance/src/programs/" },
      to: { pathNot: "^packages/governance/src/programs/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "pure-packages-know-no-machine",
      comment:
        "protocol, client and repl also run in browsers; governance and agent take what touches the machine as ports.",
      severity: "error",
      from: {
        path: "^packages/(protocol|client|repl|ledger-page|governance|agent)/src/",
        pathNot: "^packages/client/src/node/",
      },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "what-needs-node-stays-apart",
      comment: "The rest of client runs in browsers as well.",
      severity: "error",
      from: { path: "^packages/(client|repl)/src/", pathNot: "^packages/client/src/node/" },
      to: { path: "^packages/client/src/node/" },
    },
    {
      name: "wire-messages-stay-at-the-edge",
      comment: "Only rpc/ of the server converts wire messages; nothing below it knows any.",
      severity: "error",
      from: {
        path: "^packages/(governance|agent|machine|git|stage|egress|shell|store|provenance|models|sessions|guard|server|rina)/src/",
        pathNot: "^packages/server/src/rpc/",
      },
      to: { path: "^packages/protocol/src/gen/" },
    },
    {
      name: "one-class-knows-sqlite",
      comment: "Node's module differs from version to version. Types are the oldest's.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: "^packages/machine/src/sqlite-connection\\.ts$" },
      to: { path: "^(node:)?sqlite$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "what-commands-use-knows-no-command",
      severity: "error",
      from: { path: "^packages/cli/src/[^/]+/", pathNot: "^packages/cli/src/commands/" },
      to: { path: "^packages/cli/src/commands/" },
    },
    {
      name: "a-family-of-commands-knows-no-other",
      comment: "But run with its plan mode, and the conversation: they do what other commands do.",
      severity: "error",
      from: { path: "^packages/cli/src/commands/([^/]+)/", pathNot: "^packages/cli/src/commands/(run|conversation)/" },
      to: { path: "^packages/cli/src/commands/[^/]+/", pathNot: "^packages/cli/src/commands/($1|options)/" },
    },
    {
      name: "testkit-is-for-tests",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: "^packages/testkit/" },
      to: { path: "^packages/testkit/" },
    },
    {
      name: "only-the-extension-knows-vscode",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/vscode/" },
      to: { path: "(^vscode$|@types/vscode)" },
    },
    {
      name: "nothing-unresolved",
      severity: "error",
      from: { path: "^packages/[^/]+/src/" },
      to: { couldNotResolve: true, pathNot: "^vscode$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
      extensions: [".ts", ".mjs", ".js", ".d.ts", ".json"],
    },
  },
};
