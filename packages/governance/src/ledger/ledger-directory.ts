/** Directory of a workspace for its intents and the record of agents' work, relative to its root. */
export const ledgerDirectory = ".orchestration";

/** Glob of the ledger's files, those of several state directories among them, and of what keeps them out of commits. Relative to the workspace. */
export const ledgerFiles = `${ledgerDirectory}/{agent_trace*.jsonl,.gitignore}`;

/** Map of intents to files, written by the server. Relative to the workspace. */
export const intentMapFile = `${ledgerDirectory}/intent_map.md`;
