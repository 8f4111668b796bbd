import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SessionAttempts } from "@gennai/client/attempts";
import type { AttemptSet } from "@gennai/protocol/model/session/attempt";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { vi } from "vitest";
import { startSession } from "../../rpc/session-client.ts";

export const twelveLines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`).join("");

/** A command that does something else in each attempt: its copy lies in a directory that is named by its number. */
export function inEach(...commands: readonly string[]): string {
  const cases = commands.map((command, index) => `*/${index + 1}/*) ${command};;`);
  return `case "$PWD" in ${cases.join(" ")} esac`;
}

function bash(command: string): Readonly<Record<string, unknown>> {
  return call("Bash", { command });
}

/** A server whose attempts run these commands, one after the other; `stage it` writes a.txt in the session itself. */
export function attempting(
  commands: readonly string[],
  options: Pick<TestServerOptions, "settings" | "server"> & {
    readonly usage?: Readonly<Record<string, number>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<TestServer> {
  const { usage, files, settings, server } = options;
  return startTestServer({
    files: { "a.txt": twelveLines, "value.txt": "0\n", ".gitignore": "dist\n", ...files },
    script: [
      { match: "stage it", steps: [bash("sed -i 's/line 1$/staged 1/' a.txt"), { text: ["Staged."] }] },
      {
        match: "try it",
        steps: [...commands.map(bash), ...(usage === undefined ? [] : [{ usage }]), { text: ["Done."] }],
      },
      { steps: [{ text: ["Next."] }] },
    ],
    ...(settings === undefined ? {} : { settings }),
    server: { commands: "staged", ...server },
  });
}

const signal = new AbortController().signal;

/** A session, and the state of its attempts. */
export class AttemptingSession {
  readonly server: TestServer;
  readonly id: string;
  readonly attempts: SessionAttempts;

  private constructor(server: TestServer, id: string) {
    this.server = server;
    this.id = id;
    this.attempts = new SessionAttempts(server.client, id);
  }

  static async start(
    server: TestServer,
    options: Parameters<typeof startSession>[1] = { proposal: true },
  ): Promise<AttemptingSession> {
    return new AttemptingSession(server, await startSession(server, options));
  }

  begin(more: Partial<Parameters<SessionAttempts["start"]>[0]> & { readonly count: number }): Promise<AttemptSet> {
    return this.attempts.start(
      { id: crypto.randomUUID(), text: "try it", check: 'grep -qx 2 value.txt && echo "checked"', ...more },
      { signal },
    );
  }

  async of(id: string): Promise<AttemptSet | undefined> {
    return (await this.attempts.list({ signal })).find((one) => one.id === id);
  }

  /** Once it is as wanted. */
  async until(id: string, isAsWanted: (set: AttemptSet) => boolean): Promise<AttemptSet> {
    return vi.waitFor(
      async () => {
        const found = await this.of(id);
        if (found !== undefined && isAsWanted(found)) return found;
        throw new Error(`The attempts are not as wanted: ${JSON.stringify(found)}`);
      },
      { interval: 200 },
    );
  }

  async ended(id: string): Promise<AttemptSet> {
    const set = await this.until(id, ({ isRunning }) => !isRunning);
    await vi.waitFor(() => {
      const left = copiesLeft(this.server);
      if (left.length > 0) throw new Error(`There is left: ${left.join(", ")}`);
    });
    return set;
  }

  take(id: string, number: number): Promise<string> {
    return this.attempts.take(id, number, { signal });
  }

  stop(id: string, number: number): Promise<AttemptSet> {
    return this.attempts.stop(id, number, { signal });
  }

  async text(id: string, sha256: string): Promise<string> {
    return Buffer.from(await this.attempts.content(id, sha256, { signal })).toString();
  }
}

/** Copies beside the workspace, and stages but for the one that waits for the next command of the workspace itself. */
export function copiesLeft({ workspace, stateDir }: Pick<TestServer, "workspace" | "stateDir">): readonly string[] {
  const [parent, name] = [dirname(workspace.root), basename(workspace.root)];
  const beside = readdirSync(parent).filter((entry) => entry.startsWith(".gennai-attempts-"));
  const stages = join(stateDir, "stages");
  const own = beside.filter((entry) => existsSync(join(parent, entry, "base", name)));
  return [...own, ...(existsSync(stages) ? readdirSync(stages) : []).slice(1)];
}
