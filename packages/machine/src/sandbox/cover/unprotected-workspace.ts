/** The workspace cannot be protected as it stands. */
export class UnprotectedWorkspace extends Error {
  override readonly name = "UnprotectedWorkspace";
}
