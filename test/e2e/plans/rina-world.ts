import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { OriginalExtension, type RinaPlan } from "./original-client.ts";

export const files = { "src/a.ts": "let colour = 1;\n" };
/** What the offline assistant makes a plan of. */
export const request = "replace colour with color in src/a.ts then create notes.txt with hello";

/** A server with the second door open. */
export function open(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer({ files, ...options, server: { rinaPort: 0, ...options.server } });
}

export function extension(server: TestServer): OriginalExtension {
  return new OriginalExtension(server.running.rinaUrl);
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
export async function approve(server: TestServer, plan: RinaPlan): Promise<OriginalExtension> {
  const client = extension(server);
  client.envelope = { kind: "plan", payload: plan };
  await client.approve();
  return client;
}
