import { ensureClaimedNodes } from "./claimed-nodes.mjs";
import { ensureCodeServer } from "./code-server.mjs";
import { ensureBubblewrap, ensureCargo, ensureChromium, ensureMaven, ensureNatsServer } from "./system-packages.mjs";

/** Installs and fetches what `npm test` would when it comes to it. It is said what cannot be had. */
export async function ensureTestNeeds() {
  await Promise.all([ensureSystem(), ensureClaimedNodes()]);
}

/** One after another: apt does one thing at a time. */
async function ensureSystem() {
  const ensureThem = [ensureBubblewrap, ensureNatsServer, ensureCargo, ensureMaven, ensureChromium];
  const leftOut = [];
  for (const ensure of ensureThem) leftOut.push(...(await ensure()));
  if (leftOut.some((glob) => glob.startsWith("test/e2e/vscode/"))) return;
  await ensureCodeServer().catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  });
}
