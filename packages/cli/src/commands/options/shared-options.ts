import { backends } from "@gennai/protocol/model/session/backend";
import type { Command } from "commander";

/** A command about one workspace, that can also answer in JSON. */
export function workspaceCommand(group: Command, name: string, description: string): Command {
  return workspaceOption(group.command(name).description(description)).option("--json", "print JSON");
}

export function workspaceOption(command: Command): Command {
  return command.option("--workspace <dir>", "the workspace (default: here)");
}

export function modelOptions(command: Command): Command {
  return command
    .option("--backend <name>", `where the model is: ${backends.join(", ")} (default: offline)`)
    .option("--model <name>", "the model; for scripted, the path of the script")
    .option("--base-url <url>", "of a server that speaks the OpenAI API");
}

export function serverOptions(command: Command): Command {
  return command
    .option("--server <which>", "auto: a running server of this workspace, else one of its own; own; or a URL", "auto")
    .option("--auth-token-file <file>", "the token of the server given by URL")
    .option(
      "--local-files",
      "keep the files here: that server reaches them only through this command (default: where it is on another machine)",
    )
    .option("--no-local-files", "that server has the same files at the same path");
}

export function protectOption(command: Command): Command {
  return command.option(
    "--protect <branch>",
    "further branch the agent must not work on, e.g. 'prod/*'; repeatable",
    collect,
  );
}

/** `--commands`, and the two options of 0.2 in its place, which are not shown. @param more said of it */
export function commandsOption(command: Command, more = ""): Command {
  return command
    .option(
      "--commands <how>",
      `staged (on a copy, and kept when rules or you agree), ask (in the workspace, if you agree before), or auto (staged where that works)${more}`,
    )
    .addOption(command.createOption("--sandbox <when>").hideHelp())
    .addOption(command.createOption("--stages <when>").hideHelp());
}

/** Repeatable, and one value at a time: a list would swallow the request that follows. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
