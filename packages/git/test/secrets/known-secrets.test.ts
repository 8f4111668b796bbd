import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test, vi } from "vitest";
import { gitNames } from "#secrets/git-names";
import { RepositorySecrets } from "#secrets/known-secrets";

vi.mock("#secrets/git-names", { spy: true });
afterEach(() => void vi.mocked(gitNames).mockReset());

test("one look at a repository at a time, in order, and one that fails spoils none of the others", async () => {
  await using repository = await temporaryRepository();
  await repository.write(".env", "TOKEN=1\n");
  await repository.git("add", "-A");
  await repository.git("commit", "-q", "-m", "a secret");
  const { gitNames: real } = await vi.importActual<{ readonly gitNames: typeof gitNames }>("#secrets/git-names");
  const jobs = new Map<AbortSignal, () => Promise<void>>();
  vi.mocked(gitNames).mockImplementation(async (args, onName, options) => {
    // In the middle of a look.
    if (args[0] === "rev-list") await jobs.get(options.signal)?.();
    return real(args, onName, options);
  });
  const secrets = new RepositorySecrets(repository.root, (path) => (path === ".env" ? "refused" : "allowed"));
  const found: unknown[] = [];
  const look = async (job: () => Promise<void>) => {
    const { signal } = new AbortController();
    jobs.set(signal, job);
    const known = await secrets.look({ signal });
    found.push(typeof known === "string" ? known : [...known.paths]);
  };
  expect(await raceJobs(look)).toEqual(oneAfterTheOther);
  expect(found).toEqual([[".env"], [".env"], [".env"]]);
});
