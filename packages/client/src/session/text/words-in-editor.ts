/** Commands behind `gennai`, with what they are called with, and what people in an editor or on the page use instead. */
const ways: readonly (readonly [command: string, way: string])[] = [
  [
    "emergency(?: (?:status|[a-z-]+(?: NAME)?(?: off)?(?: --reason …)?))?",
    "the emergency controls of the Governance panel",
  ],
  ["intents(?: (?:list|init|mode|accept))?", "the intents of the Governance panel"],
  ["mcp(?: (?:list|accept(?: [\\w.-]*\\w)?))?", "the MCP servers of the Governance panel"],
  ["policy(?: test)?", "the rules of the Governance panel"],
  ["answers(?: (?:list|revoke|allow))?", "the list of answers that stand in the Governance panel"],
  ["policy show", "the rights in the Governance panel"],
  ["stage (?:list|keep(?: [\\w./~-]*\\w)?)", "“Gennai: Keep What Git Ignores…” of VS Code"],
  ["undo", "the Checkpoints panel"],
  ["sessions(?: --all)?(?! (?:export|import|delete|fork)\\b)", "the menu of sessions"],
  ["plan(?: (?:approve|status))?", "the Plan panel"],
  ["open", "the Gennai panel"],
  // These have no place in an editor: the person who runs the server has them.
  ["doctor", "the server's own check of its machine"],
  ["ledger accept-rollback", "the server's own command to accept the loss"],
  ["ledger purge", "the server's own purge of sessions"],
  ["ledger verify", "the server's own check of the ledger"],
  ["hooks (?:trust|show)", "the server's own list of trusted hooks"],
  ["check(?: (?:list|revoke))?", "the server's own list of accepted checks"],
];

const typed = new RegExp(`\`?\\bgennai (?:${ways.map(([command]) => `(${command})`).join("|")})(?![\\w-])\`?`, "g");

/**
 * A server's text adapted for users of an editor or page, without a command line: `gennai emergency` becomes the controls in
 * the panel. Only for the server's own text; that of a model, a command or a file is not changed.
 */
export function wordsInEditor(text: string): string {
  return text.replaceAll(typed, (_words, ...found: readonly unknown[]) => {
    const place = found.findIndex((group) => typeof group === "string");
    return ways[place]?.[1] ?? "";
  });
}
