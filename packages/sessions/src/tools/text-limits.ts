/** Larger files are neither read nor written as a whole: 20 MiB. */
export const maxFileBytes = 20 * 1024 * 1024;
