/** Where a workspace keeps its intents and the record of what agents did, relative to its root. */
export const ledgerDirectory = ".orchestration";

/** Which files belong to which intent, as the server writes it down. Relative to the workspace. */
export const intentMapFile = `${ledgerDirectory}/intent_map.md`;
