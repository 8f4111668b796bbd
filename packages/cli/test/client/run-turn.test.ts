import type { AgentSession } from "@gennai/client/session/agent-session";
import { SessionView } from "@gennai/client/view/session-view";
import { expect, test } from "vitest";
import { runTurn } from "#client/run-turn";
import { Interrupts } from "#terminal/interrupts";

/** A session whose server went away in the middle of a turn: nothing comes of it any more, and it cannot be told to stop. */
function lostSession(begun: () => void) {
  const ended = Promise.withResolvers<void>();
  return {
    end: ended.resolve,
    session: {
      async *runTurn() {
        begun();
        await ended.promise;
        yield* [];
      },
      cancelTurn: async () => Promise.reject(new Error("connection refused")),
    } as unknown as AgentSession,
  };
}

test.each([
  ["ends the program, also where no server can be told", "SIGTERM", [130]],
  ["ends the program when its terminal is closed", "SIGHUP", [130]],
  ["is only said where a person can press it again", "SIGINT", []],
] as const)("a stop that fails %s", async (_name, signal, codes) => {
  const exits: number[] = [];
  using interrupts = new Interrupts((code) => exits.push(code), { hangUp: true });
  const begun = Promise.withResolvers<void>();
  const { session, end } = lostSession(begun.resolve);
  const said = Promise.withResolvers<string>();
  const view = {
    session: new SessionView(),
    show: () => {},
    note: (text: string) => text.includes("could not") && said.resolve(text),
  };
  const turn = runTurn(session, { text: "x" }, { view, interrupts, signal: new AbortController().signal });
  await begun.promise;
  interrupts.interrupt(signal);
  expect(await said.promise).toBe("The turn could not be stopped: connection refused");
  end();
  await turn;
  expect(exits).toEqual(codes);
});
