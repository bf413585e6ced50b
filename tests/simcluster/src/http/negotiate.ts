import { statusError } from './api-error.ts';
import { readMediaTypes } from './media-type.ts';

/** The form in which an answer is wanted. */
export interface Form {
  readonly as: 'Object' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table';
  readonly yaml: boolean;
}

const plainObject: Form = { as: 'Object', yaml: false };
const conversions = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table'] as const;

/** Chooses among the forms of an Accept header. Throws a 406 when none of them is served. */
export function negotiate(accept: string): Form {
  const wanted = readMediaTypes(accept);
  if (wanted.length === 0) return plainObject;
  let known = false;
  for (const media of wanted) {
    const json = ['application/json', 'application/*', '*/*'].includes(media.type);
    const yaml = media.type === 'application/yaml';
    if (!json && !yaml) continue;
    known = true;
    const as = media.parameters.get('as');
    if (as === undefined) return { as: 'Object', yaml };
    const conversion = conversions.find((one) => one === as);
    const served = media.parameters.get('g') === 'meta.k8s.io' && media.parameters.get('v') === 'v1';
    if (conversion !== undefined && served) return { as: conversion, yaml };
  }
  throw known ? noSuchConversion() : notAcceptable();
}

function noSuchConversion(): Error {
  return statusError({
    code: 406,
    reason: 'NotAcceptable',
    message:
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  });
}

function notAcceptable(): Error {
  const served = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;stream=watch',
    'application/vnd.kubernetes.protobuf;stream=watch',
  ];
  return statusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${served.join(', ')}`,
    details: {},
  });
}
