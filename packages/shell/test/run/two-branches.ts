import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";

/** On the branch `work`, whose `f` conflicts with that of the branch `other`. */
export async function twoBranches(): Promise<TemporaryRepository> {
  const repository = await temporaryRepository({ f: "1\n2\n3\n", g: "1\n", "d/h": "1\n" });
  await repository.git("switch", "-qc", "other");
  await repository.write("f", "1\nother\n3\n");
  await repository.git("commit", "-qam", "other");
  await repository.git("switch", "-qc", "work", "main");
  await repository.write("f", "1\nwork\n3\n");
  await repository.git("commit", "-qam", "work");
  return repository;
}
