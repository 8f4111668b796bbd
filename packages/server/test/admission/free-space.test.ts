import { expect, test } from "vitest";
import { FreeSpace } from "#admission/free-space";

const mebibyte = 1024 * 1024;

test.each([
  ["much space", 300, 100_000, "ok"],
  ["little of a large disk", 255, 100_000, "disk_full"],
  ["a twentieth of a small disk", 5, 100, "ok"],
  ["less of it", 4, 100, "disk_full"],
  ["none", 0, 100, "disk_full"],
  ["a disk that cannot be seen", Number.POSITIVE_INFINITY, 0, "ok"],
])("with %s: %s of %s MiB free", (_name, free, size, want) => {
  const space = new FreeSpace("/x", { spaceOf: () => ({ free: free * mebibyte, size: size * mebibyte }) });
  if (want === "ok") space.assertRoom();
  else expect(() => space.assertRoom()).toThrow(expect.objectContaining({ code: "resource_exhausted", reason: want }));
});

test("it looks once a second, and finds space that is back", () => {
  let [now, free, looks] = [0, 0, 0];
  const spaceOf = () => {
    looks += 1;
    return { free, size: 1_000 };
  };
  const space = new FreeSpace("/x", { spaceOf, now: () => now });
  for (let call = 0; call < 5; call += 1) expect(() => space.assertRoom()).toThrow("nearly full");
  expect(looks).toBe(1);
  [now, free] = [1_000, 1_000];
  space.assertRoom();
});
