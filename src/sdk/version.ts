/** A constant, because the compiled SDK cannot read a package.json everywhere it runs. A test compares it with the program's. */
export const SDK_VERSION = "0.1.0";
