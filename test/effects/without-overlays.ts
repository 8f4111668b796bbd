import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Temporary files on an overlay over an overlay: as in a container whose file system is one, the kernel mounts none over
 * that. The mounts are this run's alone.
 */
const script = `set -e
mount -t tmpfs x /mnt; cd /mnt; mkdir l u1 w1 m1 u2 w2 m2
mount -t overlay o1 -o lowerdir=l,upperdir=u1,workdir=w1 m1
mount -t overlay o2 -o lowerdir=m1,upperdir=u2,workdir=w2 m2
mkdir m2/tmp; cd /; export TMPDIR=/mnt/m2/tmp; exec "$@"`;

/** Runs the program of the effects again, where commands can be staged only on copies. @returns its exit code */
export function withoutOverlays(args: readonly string[]): number {
  const again = args.filter((arg) => arg !== "--without-overlays");
  const program = [process.execPath, fileURLToPath(new URL("main.ts", import.meta.url)), ...again];
  const { status } = spawnSync("unshare", ["--mount", "/bin/sh", "-c", script, "sh", ...program], { stdio: "inherit" });
  return status ?? 1;
}
