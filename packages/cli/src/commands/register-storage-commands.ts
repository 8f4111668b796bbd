import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import type { StorageFlags } from "./storage-commands.ts";

/** `gennai storage …`: what the state directory takes. */
export function registerStorageCommands(program: Command, { console, ended }: CommandHost): void {
  const storage = program
    .command("storage")
    .description("show what Gennai keeps on this disk, and free what can be made again");
  storage
    .command("show", { isDefault: true })
    .description("show how much is taken, by what it is for, and the bound")
    .option("--json", "print JSON")
    .action(async (flags: StorageFlags) => {
      const { storageShowCommand } = await import("./storage-commands.ts");
      ended(await storageShowCommand(flags, console));
    });
  storage
    .command("free")
    .description("remove all builds and dependencies of sessions that no command uses now: they can be made again")
    .option("--json", "print JSON")
    .action(async (flags: StorageFlags) => {
      const { storageFreeCommand } = await import("./storage-commands.ts");
      ended(await storageFreeCommand(flags, console));
    });
}
