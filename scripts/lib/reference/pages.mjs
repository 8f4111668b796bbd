import { spawnSync } from "node:child_process";
import { toolEnvironment } from "../packaged-node.mjs";
import { root } from "../repository.mjs";
import { cliPage } from "./cli-page.mjs";
import { clientPage } from "./client-page.mjs";
import { commandsPage } from "./commands-page.mjs";
import { errorsPage } from "./errors-page.mjs";
import { eventsPage } from "./events-page.mjs";
import { readProtocol } from "./protocol.mjs";
import { protocolPage } from "./protocol-page.mjs";
import { settingsPage } from "./settings-page.mjs";

const note = "<!-- Made from the code by `npm run generate`; changes of this file are lost. -->";

/** Every page of the reference, as it has to be. @returns {Promise<{ readonly file: string, readonly text: string }[]>} */
export async function referencePages() {
  const protocol = readProtocol();
  const pages = [
    { file: "cli.md", text: await cliPage() },
    { file: "client.md", text: clientPage() },
    { file: "commands.md", text: commandsPage() },
    { file: "errors.md", text: errorsPage() },
    { file: "events.md", text: eventsPage(protocol) },
    { file: "protocol.md", text: protocolPage(protocol) },
    { file: "settings.md", text: settingsPage() },
  ];
  return pages.map(({ file: name, text }) => {
    const file = `docs/reference/${name}`;
    return { file, text: formatted(file, `${note}\n\n${text}`) };
  });
}

/** As the project's formatter wants it, so that both agree. @param {string} file @param {string} text */
function formatted(file, text) {
  const { status, stdout, stderr } = spawnSync("biome", ["format", `--stdin-file-path=${file}`], {
    cwd: root,
    env: toolEnvironment(),
    input: text,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${file} cannot be formatted: ${stderr}`);
  return stdout;
}
