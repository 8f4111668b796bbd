/** A sentence of the specifications that must hold at run time. Tests cite it by its id in their titles. */
export interface Requirement {
  /** `<specification> <section>`, as in test titles. */
  readonly id: string;
  readonly sentence: string;
}

/** Plan authority. */
const planAuthority: readonly Requirement[] = [
  { id: "seed 000 state", sentence: "No execution unless the state is awaiting_approval." },
  { id: "seed 000 hash", sentence: "No execution unless the plan hash matches the approved hash." },
  { id: "seed 000 token", sentence: "No execution unless the approval token is valid." },
  { id: "seed 000 binding", sentence: "Approval tokens are bound to specific plan hashes." },
  { id: "seed 000 immutable", sentence: "Any change to a plan invalidates the approval." },
  { id: "seed 000 canonical", sentence: "Every plan is hashed by SHA-256 over canonical JSON." },
  { id: "seed 000 envelope", sentence: "Envelopes are plan, chat or error, validated strictly." },
  { id: "seed 000 lifecycle", sentence: "draft, preview, awaiting_approval, executing, verifying, done or failed." },
  { id: "seed 000 protocol", sentence: "The five endpoints answer the original extension as it expects." },
  { id: "seed 000 authority", sentence: "The server makes all safety decisions and executes; a client only forwards." },
];

/** Intents and ledger (hook engine). */
const hookEngine: readonly Requirement[] = [
  { id: "seed 001 intercept", sentence: "The hook engine intercepts every tool execution." },
  {
    id: "seed 001 fail-safe",
    sentence:
      "Hooks are fail-safe: non-blocking reads continue; destructive calls default to rejected if a hook fails.",
  },
  { id: "seed 001 handshake", sentence: "The agent must call select_active_intent before destructive actions." },
  {
    id: "seed 001 context",
    sentence:
      "select_active_intent returns a compact intent_context block with scope, constraints and acceptance criteria.",
  },
  { id: "seed 001 cite", sentence: "Without a valid intent id: You must cite a valid active Intent ID." },
  { id: "seed 001 inject", sentence: "The intent context is injected into the later model calls." },
  {
    id: "seed 001 scope",
    sentence: "A file outside the scope: Scope Violation: <intent_id> is not authorized to edit [filename].",
  },
  { id: "seed 001 expansion", sentence: "The agent may request scope expansion via a controlled tool call." },
  {
    id: "seed 001 stale",
    sentence: "A changed file: Stale File error; the write is blocked and the agent must read again.",
  },
  {
    id: "seed 001 trace",
    sentence: "Each record links intent, content hashes, paths, ranges, timestamps, contributor and VCS revision.",
  },
  {
    id: "seed 001 block-hash",
    sentence: "Spatial hashing uses SHA-256 of the code block, so that identity survives code that moves.",
  },
  { id: "seed 001 integrity", sentence: "Traces are integrity-protected and append-only." },
  { id: "seed 001 map", sentence: "intent_map.md links intents to files and symbols." },
  { id: "seed 001 lessons", sentence: "AGENT.md and CLAUDE.md hold lessons and rules." },
  { id: "seed 001 ignore", sentence: "An .intentignore-style file limits what tools may edit." },
  { id: "seed 001 tool-errors", sentence: "Rejected or failed hook checks return standardized JSON tool errors." },
  { id: "seed 001 opt-in", sentence: "The hooks are opt-in per workspace or profile." },
];

/** The safety specification. */
const safety: readonly Requirement[] = [
  { id: "seed 003 §2.1", sentence: "No silent execution." },
  { id: "seed 003 §2.2", sentence: "No high-impact action without explicit confirmation." },
  { id: "seed 003 §2.3", sentence: "No execution outside the tool registry." },
  { id: "seed 003 §2.4", sentence: "No success claim without verification output." },
  { id: "seed 003 §2.5", sentence: "Adaptation (tone, verbosity) never changes permissions." },
  { id: "seed 003 §4", sentence: "If mixed categories appear in one run, the highest category policy applies." },
  {
    id: "seed 003 §5 payload",
    sentence:
      "A confirmation shows intent reflection, plain action statement, impact statement, and an explicit yes/no gate.",
  },
  { id: "seed 003 §5 missing", sentence: "Execution is blocked when the confirmation is missing." },
  { id: "seed 003 §5 ambiguous", sentence: "Execution is blocked when the confirmation is ambiguous." },
  { id: "seed 003 §5 token", sentence: "Execution is blocked when the token is invalid or expired." },
  {
    id: "seed 003 §6",
    sentence: "A missing or invalid field of a step is a hard reject (400) with an actionable reason.",
  },
  {
    id: "seed 003 §7",
    sentence: "Each executed step logs tool, redacted input, start and stop, exit status and verification outcome.",
  },
  { id: "seed 003 §7 classes", sentence: "Failures are classified." },
  { id: "seed 003 §9 secrets", sentence: "Secrets are never logged in plaintext." },
  { id: "seed 003 §9 markers", sentence: "Report exports include redaction markers." },
  { id: "seed 003 §9 purge", sentence: "Purge removes operational memory and run history references." },
  { id: "seed 003 §10 before", sentence: "License checks occur before tool invocation." },
  { id: "seed 003 §10 refusal", sentence: "A denied capability returns a graceful refusal, not an execution attempt." },
  { id: "seed 003 §10 least", sentence: "A missing or invalid license defaults to least privilege." },
  { id: "seed 003 §11 gates", sentence: "A release cannot proceed unless all gates pass." },
  { id: "seed 003 §11 parity", sentence: "Audit parity of two deployments is checked." },
  { id: "seed 003 §11 signature", sentence: "The signature of the release checksums is verified." },
  { id: "seed 003 §12 registry", sentence: "Deny a non-registry tool." },
  { id: "seed 003 §12 scope", sentence: "Deny an out-of-scope file or system mutation." },
  { id: "seed 003 §12 post-stop", sentence: "No post-stop continuation." },
  { id: "seed 003 §13 high-impact", sentence: "Disable the high-impact tool category at run time." },
  { id: "seed 003 §13 read-only", sentence: "Enforce read-only mode globally." },
  { id: "seed 003 §13 deploy", sentence: "Block the production deploy tool specifically." },
  { id: "seed 003 §13 auditable", sentence: "Emergency controls are auditable and reversible." },
  { id: "seed 003 §14 release", sentence: "The release flow is signature-enforced and auditable." },
];

/** Damage control. */
const damageControl: readonly Requirement[] = [
  { id: "seed 004 §2 every-call", sentence: "Every tool call is evaluated before execution." },
  { id: "seed 004 §2 missing", sentence: "A missing rule file means no rules of that layer." },
  { id: "seed 004 §2 resolver", sentence: "Tildes are expanded and relative paths resolved against the cwd." },
  {
    id: "seed 004 §2 home",
    sentence: "Rules are read from the project, with ~/.pi/damage-control-rules.yaml as the fallback.",
  },
  { id: "seed 004 §3A patterns", sentence: "bashToolPatterns match against the raw command string." },
  { id: "seed 004 §3A paths", sentence: "zeroAccessPaths, readOnlyPaths and noDeletePaths match in commands." },
  { id: "seed 004 §3B default", sentence: "grep, find and ls without a path mean the cwd." },
  { id: "seed 004 §3B zero", sentence: "A path that matches zeroAccessPaths is blocked." },
  { id: "seed 004 §3B glob", sentence: "grep's glob is checked against zeroAccessPaths." },
  { id: "seed 004 §3B read-only", sentence: "write and edit of readOnlyPaths are blocked." },
  { id: "seed 004 §3B no-delete", sentence: "Deleting noDeletePaths is blocked." },
  { id: "seed 004 §4 status", sentence: "The status tells how many rules are active, and the last violation." },
  { id: "seed 004 §4 notifications", sentence: "A blocked call is told by a notification." },
  { id: "seed 004 §4 blocking", sentence: "A block says: Security Policy Violation: [Reason]." },
  { id: "seed 004 §4 ask", sentence: "ask: true asks the user for 30 seconds; no yes means: User denied execution." },
  { id: "seed 004 §5", sentence: "Every interception is logged as damage-control-log {tool, input, rule, action}." },
  { id: "seed 004 §6 fallback", sentence: "If the YAML cannot be parsed, the user is told and nothing crashes." },
];

export const requirements: readonly Requirement[] = [...planAuthority, ...hookEngine, ...safety, ...damageControl];
