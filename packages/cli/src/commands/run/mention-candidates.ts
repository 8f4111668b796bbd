import type { AgentSession } from "@gennai/client/session/agent-session";
import { canMention, completeMention, mentionAt, namedMentions } from "@gennai/client/session/text/mentions";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Completions of the `@` at the end of a line, and the part of the line that they replace. */
export async function mentionCandidates(
  line: string,
  session: Pick<AgentSession, "client" | "sessionId">,
  signal: AbortSignal,
): Promise<readonly [candidates: readonly string[], typed: string]> {
  const mention = mentionAt(line, line.length);
  if (mention === undefined) return [[], line];
  const { prefix, start } = mention;
  const { paths } = await session.client.listPaths({ sessionId: session.sessionId, prefix }, { signal });
  const all = [...namedMentions.filter((name) => name.startsWith(prefix)), ...paths];
  // A name that a terminal cannot show unchanged cannot be chosen here.
  const shown = all.filter((path) => terminalSafe(path) === path && canMention(path));
  const written = shown.map((path) => completeMention(line, line.length, mention, path).text.slice(start).trimEnd());
  return [written, line.slice(start)];
}
