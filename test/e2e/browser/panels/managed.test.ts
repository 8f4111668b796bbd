import { fileURLToPath } from "node:url";
import { startTestServer } from "@gennai/testkit/test-server";
import { test } from "vitest";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const pageDirectory = fileURLToPath(new URL("../../../../dist/page", import.meta.url));
const directory = "/etc/gennai";
const policy = `gennai_policy: 1
name: acme-default
contact: security@acme.example
rules: { bashToolPatterns: [{ name: no-prod, pattern: 'kubectl', reason: production }] }
capabilities: [read, propose, write, execute, network]
emergency: { disable_high_impact: true, block: [deploy] }
mcp: { allow: [{ command: ["npx", "-y", "@acme/mcp@1.4.0"] }] }
answers: { unattended_yes: false, longest: turn }
require: { intents: required }
...
`;

test("the panel names who manages this machine, and locks what they decided", async () => {
  await using server = await startTestServer({
    steps: [{ text: ["Hello."] }],
    server: {
      pageDirectory,
      policyFiles: {
        directory,
        list: (at) => (at === directory ? ["policy.yaml"] : []),
        read: async () => policy,
      },
    },
  });
  await using on = await openPage(server);
  await on.repl.openPanel("Governance");
  const managed = on.page.getByRole("region", { name: "Managed by acme-default" });
  await managed.getByText("Questions: security@acme.example").waitFor();
  await managed.getByText("8 keys").click();
  await managed.getByText("/etc/gennai/policy.yaml:6").first().waitFor();
  await on.page.getByRole("switch", { name: "Disable high-impact", disabled: true, checked: true }).waitFor();
  for (const section of ["MCP servers", "Answers that stand", "Intents", "Rules in force"]) {
    await on.page
      .getByRole("region", { name: section })
      .getByRole("img", { name: /^acme-default lays/ })
      .waitFor();
  }
  await takeScreenshot(on.page, "a machine that is managed");
});
