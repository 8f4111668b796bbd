import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Network namespaces, other than this process's own, of the processes whose command line holds this. */
export function networksOf(words: string): readonly string[] {
  const own = readlinkSync("/proc/self/ns/net");
  const found = processes().flatMap(({ id, line }) => (line.includes(words) ? networkOf(id) : []));
  return [...new Set(found)].filter((network) => network !== own);
}

/** How many processes are in a network, or have it open. */
export function holdersOf(network: string): number {
  return processes().filter(({ id }) => networkOf(id).includes(network) || opens(id, network)).length;
}

/** How many processes have such a command line. */
export function runningWith(words: string): number {
  return processes().filter(({ line }) => line.includes(words)).length;
}

function processes(): readonly { readonly id: string; readonly line: string }[] {
  return readdirSync("/proc").flatMap((id) => {
    if (!/^\d+$/.test(id) || Number(id) === process.pid) return [];
    try {
      return [{ id, line: readFileSync(`/proc/${id}/cmdline`, "latin1").replaceAll("\0", " ") }];
    } catch {
      return [];
    }
  });
}

function networkOf(id: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/${id}/ns/net`)];
  } catch {
    return [];
  }
}

function opens(id: string, network: string): boolean {
  try {
    return readdirSync(`/proc/${id}/fd`).some((descriptor) => {
      try {
        return readlinkSync(`/proc/${id}/fd/${descriptor}`) === network;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}
