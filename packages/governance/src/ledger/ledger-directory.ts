/** Where a workspace keeps its intents and the record of what agents did, relative to its root. */
export const ledgerDirectory = ".orchestration";
