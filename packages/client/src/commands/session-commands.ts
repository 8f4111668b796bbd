import { TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { listBackgroundRuns } from "../background-runs.ts";
import { listSessions, sessionLine } from "../session/session-list.ts";
import { noSession, type SlashCommand, said, shown } from "./command.ts";

/** What a session did, and other sessions. */
export const sessionCommands: readonly SlashCommand[] = [
  {
    name: "again",
    argument: "",
    description: "Goes on with a turn that was cut off when its server went away; what it asked is asked again",
    run: async (place) => {
      const turn = await place.cutOffTurn();
      return turn === undefined
        ? said("No turn was cut off here. Write a prompt.")
        : { type: "continue", turnId: turn.turnId };
    },
  },
  {
    name: "undo",
    argument: "",
    description: "Undoes the last change set; what you changed since on other lines stays",
    run: async (place) => said(await place.undo()),
  },
  {
    name: "review",
    argument: "",
    description: "Shows what is proposed, to keep or refuse it",
    isOffered: ({ views }) => views.has("review"),
    run: () => shown("review"),
  },
  {
    name: "checkpoints",
    argument: "",
    description: "Shows the states that files can be restored to",
    isOffered: ({ views }) => views.has("checkpoints"),
    run: () => shown("checkpoints"),
  },
  {
    name: "history",
    argument: "",
    description: "Shows all of this session from its beginning",
    isOffered: ({ views }) => views.has("history"),
    run: () => shown("history"),
  },
  {
    name: "todos",
    argument: "",
    description: "Shows the agent's list of what is to do",
    run: async ({ session, signal }) => {
      if (session === undefined) return said("No todos.");
      const { items } = await session.client.getTodos({ sessionId: session.sessionId }, { signal });
      return said(items.length === 0 ? "No todos." : todoLines(items).join("\n"));
    },
  },
  {
    name: "background",
    argument: "",
    description: "Lists the commands that run in the background",
    run: async ({ session, views, signal }) => {
      if (views.has("background")) return shown("background");
      const runs = session === undefined ? [] : await listBackgroundRuns(session.client, session.sessionId, { signal });
      const lines = runs.map(({ id, command, isRunning, end, ports }) => {
        const open = ports.map(({ port }) => ` :${port}`).join("");
        return `${id} ${isRunning ? "runs" : end}${open}: ${command}`;
      });
      return said(lines.join("\n") || "Nothing runs in the background.");
    },
  },
  {
    name: "compact",
    argument: "",
    description: "Makes the conversation shorter for the model; you keep all of it",
    run: async ({ session, signal }) => {
      const done = await session?.client.compactSession({ sessionId: session.sessionId }, { signal });
      if (done?.compacted !== true) return said("There is nothing to shorten yet.");
      return said(
        `About ${done.tokensBefore} tokens before, ${done.tokensAfter} now; the last ${done.keptMessages} messages stay as they are.`,
      );
    },
  },
  {
    name: "new",
    argument: "",
    description: "Begins a new session",
    isOffered: ({ openSession }) => openSession !== undefined,
    run: async ({ openSession }) => {
      await openSession?.(undefined);
      return said("");
    },
  },
  {
    name: "fork",
    argument: "",
    description: "Goes on in a copy of this session; this one stays as it is",
    isOffered: ({ openSession }) => openSession !== undefined,
    run: async ({ session, openSession, signal }) => {
      if (session === undefined) return noSession;
      const copy = await session.client.forkSession({ sessionId: session.sessionId, throughSeq: 0n }, { signal });
      await openSession?.(copy.sessionId);
      return said("");
    },
  },
  {
    name: "resume",
    argument: "[ID]",
    description: "Goes on with another session; alone: lists those of this workspace",
    isOffered: ({ openSession, views }) => openSession !== undefined || views.has("sessions"),
    run: async ({ session, openSession, views, signal }, id) => {
      if (id !== "" && openSession !== undefined) {
        await openSession(id);
        return said("");
      }
      if (views.has("sessions")) return shown("sessions", { text: id });
      if (session === undefined) return noSession;
      const { client, workingDir } = session;
      const listed = await listSessions(client, workingDir, { signal });
      return said(listed.map((each) => sessionLine(each, workingDir)).join("\n"));
    },
  },
  {
    name: "quit",
    argument: "",
    description: "Leaves the terminal (so does Ctrl-D, and Ctrl-C at the prompt)",
    isOffered: ({ quit }) => quit !== undefined,
    run: ({ quit }) => {
      quit?.();
      return said("");
    },
  },
];

const marks: Partial<Record<TodoStatus, string>> = { [TodoStatus.COMPLETED]: "✓", [TodoStatus.IN_PROGRESS]: "…" };

/** The agent's list, a line each. */
function todoLines(items: readonly { readonly status: TodoStatus; readonly content: string }[]): string[] {
  return items.map(({ status, content }) => `${marks[status] ?? "○"} ${content}`);
}
