import { McpAcceptance } from "@gennai/sessions/mcp/mcp-acceptance";
import { expect, test } from "vitest";
import { authorizedServer } from "../../../../packages/sessions/test/mcp/authorized-server.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test("a person sees what a repository's MCP server runs, and accepts it as it is then", async () => {
  const mcpServers = { units: { command: "node", args: ["units.mjs"], env: { UNITS_KEY: "not-to-be-shown" } } };
  await using gennai = await serveGennai({
    script: [{ steps: [{ text: ["Hello."] }] }],
    files: { "units.mjs": "// one\n", ".mcp.json": JSON.stringify({ mcpServers }) },
  });
  await gennai.workspace.git("checkout", "--quiet", "-b", "ai-agent/units");
  await using on = await openPage(gennai);
  // A turn that would use it says so, and leads there.
  await on.repl.send("hello");
  await on.repl.see(
    "The MCP server units of .mcp.json is not started. Look at what it would run before you accept it.",
  );
  await on.repl.idle();
  await on.repl.root.getByRole("button", { name: "Look at it" }).click();
  const section = on.repl.root.getByRole("region", { name: "MCP servers" });
  await section.getByText("does not start: nobody accepted it yet").waitFor();
  expect(await section.locator("pre").textContent()).toBe("node units.mjs\nwith UNITS_KEY=…");
  await takeScreenshot(on.page, "an MCP server that waits");

  // The program changes while the user reads: then the new one is shown, and nothing is accepted.
  await gennai.workspace.write("units.mjs", "// another\n");
  const accept = section.getByRole("button", { name: "Accept as it is now: units" });
  await accept.click();
  await on.repl.root.getByText("This MCP server has changed since").waitFor();
  const stateDir = gennai.stateDirectory;
  const place = {
    workspaceRoot: gennai.workspace.root,
    stateDir,
    configDir: stateDir,
    environment: {},
    limits: async () => [],
  };
  expect((await new McpAcceptance(place).status()).servers).toMatchObject([{ accepted: false }]);

  await accept.click();
  await section.getByText("starts with a turn that may use it").waitFor();
  await accept.waitFor({ state: "detached" });
  expect((await new McpAcceptance(place).status()).servers).toMatchObject([{ accepted: true }]);
});

test("a person logs in at a server behind an address", async () => {
  await using far = await authorizedServer();
  await using gennai = await serveGennai({
    script: [{ steps: [{ text: ["Hello."] }] }],
    files: { ".mcp.json": JSON.stringify({ mcpServers: { far: { url: far.url } } }) },
  });
  await using on = await openPage(gennai);
  await on.repl.openPanel("Governance");
  const section = on.repl.root.getByRole("region", { name: "MCP servers" });
  await section.getByRole("button", { name: "Accept as it is now: far" }).click();
  await section.getByRole("button", { name: "Log in: far" }).click();
  const link = section.getByRole("link", { name: "Agree at" });
  await link.waitFor();
  await takeScreenshot(on.page, "a login at an MCP server that waits");
  const opened = on.page.waitForEvent("popup");
  await link.click();
  await (await opened).getByText("You can close this window").waitFor();
  await section.getByText("logged in since").waitFor();
  await takeScreenshot(on.page, "a login at an MCP server that is kept");
});
