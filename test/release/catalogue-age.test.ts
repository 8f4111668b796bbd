import { expect, test } from "vitest";
import { assertCatalogueIsNew } from "../../release/catalogue-age.ts";
import { ReleaseError } from "../../release/release-error.ts";

test("a release whose catalogue of models is older than three months says what to do", () => {
  const at = (date: string) => Date.parse(date) / 1000;
  expect(() => assertCatalogueIsNew("2026-11-10", at("2027-02-10"))).not.toThrow();
  expect(() => assertCatalogueIsNew("2026-11-10", at("2026-11-01"))).not.toThrow();
  expect(() => assertCatalogueIsNew("2026-11-10", at("2027-02-11"))).toThrow(ReleaseError);
  expect(() => assertCatalogueIsNew("2026-11-10", at("2027-02-11"))).toThrow(/93 days old.*npm run generate/);
});
