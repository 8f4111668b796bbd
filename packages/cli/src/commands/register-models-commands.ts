import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { serverOptions, workspaceOption } from "./options/shared-options.ts";

/** `gennai models` and `gennai models try`. */
export function registerModelsCommands(program: Command, { runs }: CommandHost): void {
  const models = program
    .command("models")
    .description("list the models there are, with size, price and abilities: the catalogue's, Ollama's, your server's")
    .addHelpText("after", help);
  workspaceOption(serverOptions(models))
    .option("--backend <name>", "of this provider alone")
    .option("--base-url <url>", "of this server; alone: one that speaks the OpenAI API")
    .option("--json", "one JSON object a model, one a line")
    .action(runs(async () => (await import("./models-commands.ts")).modelsCommand));
  // Options of the list may come before the subcommand too, and mean the same for both.
  models
    .command("try")
    .description("ask a model for one word: whether key, address and model work, and how long it takes")
    .argument("<model>", "as the list names it")
    .action(runs(async () => (await import("./models-commands.ts")).modelsTryCommand));
}

const help = `
A trial is one small real request, and costs what that costs.`;
