import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";

/** `gennai storage …`: what the state directory takes. */
export function registerStorageCommands(program: Command, { runs }: CommandHost): void {
  const storage = program
    .command("storage")
    .description("show what Gennai keeps on this disk, and free what can be made again");
  storage
    .command("show", { isDefault: true })
    .description("show how much is taken, by what it is for, and the bound")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./storage-commands.ts")).storageShowCommand));
  storage
    .command("free")
    .description("remove all builds and dependencies of sessions that no command uses now: they can be made again")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./storage-commands.ts")).storageFreeCommand));
}
