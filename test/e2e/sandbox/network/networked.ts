import { bash } from "@gennai/testkit/scripted-steps";
import type { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";

/** A server that stages commands and knows a network of the test's own; each turn runs one command. */
export function networked(
  outside: TestOutside,
  commands: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  return startTestServer({
    files: { ".gitignore": "node_modules\n", ...files },
    script: commands.map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
    server: { commands: "staged", outside },
  });
}
