/** Tools that the language models of VS Code's own chat may call. They only read. */
export const chatToolNames = ["gennai_session_changes", "gennai_explain_decision"] as const;
export type ChatToolName = (typeof chatToolNames)[number];
