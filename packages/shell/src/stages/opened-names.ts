import { type Link, wayTo } from "@gennai/machine/host/way-to";
import { isWithin } from "@gennai/protocol/is-within";
import type { ShellMachine } from "@gennai/stage/sandbox/shell-sandbox";

/** The names by which workspaces were opened, where they lead there through links: commands find the same links. */
export class OpenedNames {
  /** By the workspace's real path. */
  readonly #links = new Map<string, readonly Link[]>();

  /** @param directory absolute path */
  note(directory: string): void {
    const way = wayTo(directory);
    if (way !== undefined && way.links.length > 0) this.#links.set(way.real, way.links);
  }

  /** The machine with the links to a workspace that are not there anyway. */
  on(machine: ShellMachine, workspaceRoot: string): ShellMachine {
    const { links, readable } = machine.layout;
    const known = new Set(links.map(({ path }) => path));
    const own = (this.#links.get(workspaceRoot) ?? []).filter(
      ({ path }) =>
        !known.has(path) && ![workspaceRoot, ...readable].some((directory) => isWithin(path, { directory })),
    );
    return own.length === 0 ? machine : { ...machine, layout: { ...machine.layout, links: [...links, ...own] } };
  }
}
