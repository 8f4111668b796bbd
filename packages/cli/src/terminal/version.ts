/** The release; also in every package.json. */
export const version = "0.2.0";
