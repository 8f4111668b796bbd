import { openRina } from "@gennai/rina/open-rina";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { OriginalExtension, type RinaPlan } from "./original-client.ts";

export const files = { "src/a.ts": "let colour = 1;\n" };
/** What the offline assistant makes a plan of. */
export const request = "replace colour with color in src/a.ts then create notes.txt with hello";

/** A server with the door for RinaWarp, which is opened again with it. */
export interface RinaServer extends TestServer {
  rinaUrl: string;
}

export async function open(options: TestServerOptions = {}): Promise<RinaServer> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer({ files, ...options }));
  const openDoor = () =>
    openRina({
      port: 0,
      version: "0.0.0-test",
      plans: server.running.plans,
      manager: server.running.manager,
      report: (error) => void server.failures.push(String(error)),
    });
  let door = await openDoor();
  parts.defer(() => door[Symbol.asyncDispose]());
  const owned = parts.move();
  const restartServer = server.restart.bind(server);
  const opened: RinaServer = Object.assign(server, {
    rinaUrl: door.url,
    restart: async () => {
      await door[Symbol.asyncDispose]();
      await restartServer();
      door = await openDoor();
      opened.rinaUrl = door.url;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
  return opened;
}

export function extension(server: RinaServer): OriginalExtension {
  return new OriginalExtension(server.rinaUrl);
}

export const write = (path: string, content = "x\n", more: object = {}): RinaPlan => ({
  id: "p1",
  title: "T",
  summary: "S",
  risks: [],
  steps: [
    {
      id: "s1",
      title: "st",
      intent: "i",
      actions: [{ type: "file_write", path, content, ...more }],
      verify: [{ type: "command", command: `grep -n x ${path}` }],
    },
  ],
});

export const command = (text: string): RinaPlan => {
  const plan = write("unused.txt");
  return {
    ...plan,
    steps: plan.steps.map((step) => ({ ...step, actions: [{ type: "command", command: text }], verify: [] })),
  };
};

/** A plan that never came from this server, brought in by a client. */
export async function approve(server: RinaServer, plan: RinaPlan): Promise<OriginalExtension> {
  const client = extension(server);
  client.envelope = { kind: "plan", payload: plan };
  await client.approve();
  return client;
}
