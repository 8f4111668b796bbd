/** Put in its place when the suite is bundled. */
declare const HOST_INPUT: Readonly<Record<string, string>>;

/** A value that the test file passed to the suite. Throws if there is none of that name. */
export function hostInput(name: string): string {
  const value = HOST_INPUT[name];
  if (value === undefined) throw new Error(`The suite was given no "${name}".`);
  return value;
}
