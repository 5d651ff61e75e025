# The toolchain for a Cortex-M55 with vector instructions (MVE), bare metal: newlib, whose files,
# arguments and output go over semihosting to the QEMU that plays the machine (mps3-an547).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(machine "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
set(CMAKE_C_FLAGS_INIT "${machine}")
set(CMAKE_CXX_FLAGS_INIT "${machine}")
# Vectors lie at 0, all else in the machine's large memory.
set(CMAKE_EXE_LINKER_FLAGS_INIT "--specs=rdimon.specs -Wl,-u,vectors -Wl,--section-start=.vectors=0 \
-Wl,-Ttext-segment=0x60000000")
