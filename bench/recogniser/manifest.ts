/** Texts by file name. @param csv with a heading, whose first two columns are file and text */
export function manifestTexts(csv: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const line of csv.split('\n').slice(1)) {
    const [, file, quoted, plain] = /^([^,]+),(?:"((?:[^"]|"")*)"|([^,]*))/u.exec(line) ?? [];
    if (file !== undefined) texts.set(file, (quoted?.replaceAll('""', '"') ?? plain ?? '').trim());
  }
  return texts;
}
