import { readFileSync } from "node:fs";

/** Linux settings that keep programs of ordinary users from making user namespaces. */
const switches = [
  { name: "user.max_user_namespaces", closed: "0", open: "15000" },
  { name: "kernel.unprivileged_userns_clone", closed: "0", open: "1" },
] as const;

const appArmor = "kernel.apparmor_restrict_unprivileged_userns";

/**
 * The one thing to do so that a sandbox can be made, according to what was refused and this system's settings.
 *
 * @param complaint what the program said that could not make one
 * @param program absolute path of the program whose profile would allow it, if AppArmor refuses
 * @param read returns a setting's value; undefined if the system has none of that name
 */
export function namespaceAdvice(
  complaint: string,
  program: string = process.execPath,
  read: (name: string) => string | undefined = readSwitch,
): string {
  // Where parts of /proc are covered, the kernel lets nobody mount another.
  if (/mount proc\b/.test(complaint)) {
    return "In a container, uncover /proc (--security-opt systempaths=unconfined, or unmask=ALL).";
  }
  for (const { name, closed, open } of switches) {
    if (read(name) === closed) return `sudo sysctl ${name}=${open}`;
  }
  if (read(appArmor) === "1") {
    const profile = `profile gennai ${program} flags=(unconfined) { userns, }`;
    return `AppArmor refuses them. Write '${profile}' to /etc/apparmor.d/gennai and load it (sudo apparmor_parser -r /etc/apparmor.d/gennai), or allow them to all programs: sudo sysctl ${appArmor}=0`;
  }
  return "In a container, use a seccomp profile that lets unshare and mount through (docker: --security-opt seccomp=FILE).";
}

function readSwitch(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name.replace(".", "/")}`, "utf8").trim();
  } catch {
    return undefined;
  }
}
