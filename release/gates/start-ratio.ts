import { execFileSync } from "node:child_process";

const rounds = 9;

/** How long `gennai --version` takes, beside an empty script of the same machine's Node: medians of runs taken in turn. */
export function startRatio(env: NodeJS.ProcessEnv, program: string): string {
  const times = { bare: [] as number[], gennai: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(timed("node", ["-e", "0"], env));
    times.gennai.push(timed(program, ["--version"], env));
  }
  const [bare, gennai] = [median(times.bare), median(times.gennai)];
  return `gennai --version ${gennai.toFixed(0)} ms, node -e 0 ${bare.toFixed(0)} ms, ratio ${(gennai / bare).toFixed(1)}`;
}

function timed(program: string, args: readonly string[], env: NodeJS.ProcessEnv): number {
  const began = performance.now();
  execFileSync(program, args, { env, stdio: "ignore", timeout: 30_000 });
  return performance.now() - began;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}
