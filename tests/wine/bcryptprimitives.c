/* Wine 8.0 lacks this DLL, from which Rust's standard library takes its random
 * numbers. For tests only: it is put beside the .exe that runs under Wine, and
 * is never part of what is given to users. */
#include <windows.h>

/* RtlGenRandom of advapi32, under the name that it has there. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return SystemFunction036(buffer, (ULONG)length);
}
