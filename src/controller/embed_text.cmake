# cmake -DINPUT=file -DOUTPUT=file.cc -DFUNCTION=ns::name -DHEADER=path -P embed_text.cmake
# Writes a source that defines the function of HEADER that answers with the bytes of INPUT.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n"
  "namespace {\nconstexpr unsigned char kBytes[] = {${bytes}};\n}\n\n"
  "std::string_view ${FUNCTION}() {\n"
  "  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}\n")
