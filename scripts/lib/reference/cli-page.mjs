import { PassThrough } from "node:stream";
import { runCommandLine } from "../../../packages/cli/src/command-line.ts";
import { page } from "./markdown.mjs";

/** What `--help` says behind every command, in the order in which the commands are listed. @returns {Promise<string>} */
export async function cliPage() {
  const parts = await partsOf([]);
  return page(
    "# The command line",
    "What `--help` says behind every command. Where Gennai was not installed but runs from its repository, `gennai ARGS` is `npm start -- ARGS`.",
    ...parts,
  );
}

/** @param {readonly string[]} words of the command @returns {Promise<string[]>} */
async function partsOf(words) {
  const help = await helpOf(words);
  const parts = [`## ${["gennai", ...words].join(" ")}\n\n\`\`\`text\n${help.trim()}\n\`\`\``];
  for (const name of subcommands(help)) parts.push(...(await partsOf([...words, name])));
  return parts;
}

/** @param {string} help @returns {string[]} */
function subcommands(help) {
  const [, listed = ""] = help.split(/^Commands:\n/m);
  const [list = ""] = listed.split(/^\S|^$/m);
  return [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
}

/** @param {readonly string[]} words */
async function helpOf(words) {
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  const console = { input: new PassThrough(), output, errors: output, environment: {}, directory: "/" };
  const code = await runCommandLine([...words, "--help"], console);
  if (code !== 0) throw new Error(`gennai ${words.join(" ")} --help ended with ${code}: ${text}`);
  return text;
}
