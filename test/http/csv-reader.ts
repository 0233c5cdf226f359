/** Reads CSV by RFC 4180, independent of the code that writes it. Strict: anything that the RFC does not allow is an error. */
export const readCsv = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new Error("a quoted cell is not closed");
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') cell += text[at++];
        else break;
      }
      at++;
    } else {
      while (at < text.length && !',"\r\n'.includes(text[at] ?? "")) cell += text[at++];
    }
    row.push(cell);
    if (text[at] === ",") {
      at++;
      continue;
    }
    if (text.slice(at, at + 2) !== "\r\n") throw new Error(`a row does not end at ${at}`);
    at += 2;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) throw new Error("the last row is not ended");
  return rows;
};
