/** Words in a scenario's `tools` that stand for several tools. */
export const toolGroups = [
  "default",
  "search",
  "filesystem",
  "code",
  "bash",
  "todo",
  "proposal",
  "web",
  "agents",
] as const;

/** Ids of calls begin with it that a user made, by `!COMMAND`. */
export const usersCallPrefix = "user-";

interface ToolFacts {
  /** Empty: no scenario names it, and every turn has it that can use it. */
  readonly groups: readonly (typeof toolGroups)[number][];
  /** How an editor shows a call. */
  readonly kind: "read" | "search" | "fetch" | "edit" | "delete" | "move" | "execute" | "think" | "other";
  /**
   * What a call may change. `session`: only what the session remembers. `files`: files, or a copy of them in Proposal Mode.
   * `unstaged`: what there is no copy of, e.g. what runs in a terminal.
   */
  readonly changes: "nothing" | "session" | "proposal" | "files" | "unstaged";
  /** Other agents have it by `gennai mcp serve`: it needs no model of ours. */
  readonly served: boolean;
  /** Sub-agents have it too. Todos, intent and scope belong to the session, and a sub-agent starts no others. */
  readonly nested: boolean;
}

/** `code` is another name of `filesystem`. */
const files = ["filesystem", "code"] as const;

const rows = {
  Read: { groups: ["default", ...files], kind: "read", changes: "nothing", served: true, nested: true },
  LS: { groups: ["default", ...files], kind: "read", changes: "nothing", served: true, nested: true },
  Grep: { groups: ["default", "search"], kind: "search", changes: "nothing", served: true, nested: true },
  Glob: { groups: ["default", "search"], kind: "search", changes: "nothing", served: true, nested: true },
  Write: { groups: files, kind: "edit", changes: "files", served: true, nested: true },
  Edit: { groups: files, kind: "edit", changes: "files", served: true, nested: true },
  MultiEdit: { groups: files, kind: "edit", changes: "files", served: true, nested: true },
  apply_patch: { groups: files, kind: "edit", changes: "files", served: true, nested: true },
  NotebookEdit: { groups: files, kind: "edit", changes: "files", served: true, nested: true },
  Delete: { groups: files, kind: "delete", changes: "files", served: true, nested: true },
  Move: { groups: files, kind: "move", changes: "files", served: true, nested: true },
  Bash: { groups: ["bash"], kind: "execute", changes: "files", served: true, nested: true },
  BashOutput: { groups: ["bash"], kind: "read", changes: "unstaged", served: true, nested: true },
  KillShell: { groups: ["bash"], kind: "execute", changes: "unstaged", served: true, nested: true },
  RunInTerminal: { groups: ["bash"], kind: "execute", changes: "unstaged", served: false, nested: true },
  TodoRead: { groups: ["todo"], kind: "read", changes: "nothing", served: false, nested: true },
  TodoWrite: { groups: ["todo"], kind: "think", changes: "session", served: false, nested: false },
  ProposeChanges: { groups: ["proposal"], kind: "edit", changes: "proposal", served: false, nested: false },
  WebFetch: { groups: ["default", "web"], kind: "fetch", changes: "nothing", served: true, nested: true },
  WebSearch: { groups: ["default", "web"], kind: "search", changes: "nothing", served: true, nested: true },
  Task: { groups: ["agents"], kind: "other", changes: "files", served: false, nested: false },
  Explore: { groups: ["agents"], kind: "other", changes: "nothing", served: false, nested: false },
  Problems: { groups: [], kind: "read", changes: "nothing", served: false, nested: true },
  Symbols: { groups: [], kind: "search", changes: "nothing", served: false, nested: true },
  Skill: { groups: [], kind: "other", changes: "nothing", served: false, nested: true },
  LoadTools: { groups: [], kind: "search", changes: "nothing", served: false, nested: true },
  AskUser: { groups: [], kind: "other", changes: "nothing", served: false, nested: false },
  select_active_intent: { groups: [], kind: "other", changes: "session", served: false, nested: false },
  request_scope_expansion: { groups: [], kind: "other", changes: "session", served: false, nested: false },
  record_lesson: { groups: [], kind: "other", changes: "unstaged", served: false, nested: false },
} as const satisfies Readonly<Record<string, ToolFacts>>;

export type ToolName = keyof typeof rows;

/** What is known of each tool of ours by its name alone, for the server and its clients. Tools of MCP servers are not among them. */
export const builtInTools: ReadonlyMap<string, ToolFacts> = new Map<string, ToolFacts>(Object.entries(rows));
