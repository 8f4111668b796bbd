import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;
let found: readonly number[] | undefined;

/**
 * Descriptors above standard error that this process was started with and that its children would inherit. In children, Node
 * closes its own, but not those. Searched once, because later descriptors are Node's.
 */
export function inheritedDescriptors(): readonly number[] {
  found ??= process.platform === "linux" ? readdirSync("/proc/self/fd").map(Number).filter(isInheritable) : [];
  return found;
}

function isInheritable(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor of the listing itself is closed by now.
    return false;
  }
}
