import { Readable, Writable } from "node:stream";
import type { AgentClient } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { turnOutcome } from "@gennai/client/session/turn-state";
import type { Endpoint } from "@gennai/governance/endpoint";
import type { Attempt } from "@gennai/protocol/model/session/attempt";
import { UserTerminal } from "../client/user-terminal.ts";
import type { Console } from "../terminal/console.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { SharedPerson } from "./shared-person.ts";

/** Where attempts are shown, and who answers their questions. */
export interface AttemptsDesk {
  readonly console: Console;
  readonly interrupts: Interrupts;
  readonly workspace: string;
  readonly stateDir: string;
  readonly yes: boolean;
  /** The person whom all attempts ask; they print to the same output. */
  readonly person: SharedPerson;
  readonly hasPerson: boolean;
  /** Endpoints that commands may reach without a question. */
  readonly allow: readonly Endpoint[];
}

/** The terminal of one attempt: it begins each line with `prefix`, and asks the person whom all attempts share. */
export function deskOf(
  place: AttemptsDesk,
  prefix: string,
): { readonly terminal: UserTerminal; readonly output: LinePrefix } {
  const { console, interrupts, workspace, stateDir, yes, person, hasPerson, allow } = place;
  const output = new LinePrefix(person.output, prefix);
  const terminal = new UserTerminal({
    console: { ...console, input: Readable.from([]), output, errors: output },
    interrupts,
    workspace,
    stateDir,
    yes,
    ask: false,
    json: false,
    allow,
    person: hasPerson ? person : undefined,
  });
  return { terminal, output };
}

/** Shows an attempt as it works, and answers its questions, until its turn has ended. */
export async function followAttempt(
  client: AgentClient,
  { number, sessionId }: Attempt,
  place: AttemptsDesk,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, output } = deskOf(place, `${number} │ `);
  using _desk = terminal;
  const session = await AgentSession.resume(client, terminal.identity(), sessionId, { signal });
  const options = { afterSeq: 0n, signal, maxAttempts: 20 };
  for await (const event of session.follow(options)) {
    terminal.view.show(event);
    if (turnOutcome(event) !== undefined) break;
  }
  output.end();
}

/** Passes whole lines on, each after the same prefix, so that a reader can tell several writers apart. */
class LinePrefix extends Writable {
  readonly #target: NodeJS.WritableStream;
  readonly #prefix: string;
  #rest = "";

  constructor(target: NodeJS.WritableStream, prefix: string) {
    super();
    this.#target = target;
    this.#prefix = prefix;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#target.write(`${this.#prefix}${line}\n`);
    done();
  }

  override _final(done: () => void): void {
    if (this.#rest !== "") this.#target.write(`${this.#prefix}${this.#rest}\n`);
    done();
  }
}
