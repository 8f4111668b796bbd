import { ReleaseError } from "./release-error.ts";

const most = 92;

/** Throws `ReleaseError` for a catalogue of models that is older than three months. @param time of the release, seconds since 1970 */
export function assertCatalogueIsNew(catalogueDate: string, time: number): void {
  const days = Math.floor((time - Date.parse(catalogueDate) / 1000) / 86_400);
  if (days <= most) return;
  throw new ReleaseError(
    `The catalogue of models is ${days} days old: what models take and cost has changed since ${catalogueDate}. Raise @earendil-works/pi-ai in package.json, install, run npm run generate, and look at the difference.`,
  );
}
