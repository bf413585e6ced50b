/** Hands a file to the browser to keep. */
export function saveFile({ blob, name }: { readonly blob: Blob; readonly name: string }): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
